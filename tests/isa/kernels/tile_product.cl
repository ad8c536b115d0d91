/* C = A * B + C for one tile of bfloat16, whose products fill a matrix engine or the vector engines.
 * ROWS is 8; SG lanes hold SG columns of B and C; the depth of the tile is 16. A sub-group a tile. */
#if SG == 16
typedef short8 lane_of_a;
#else
typedef int8 lane_of_a;
#endif

#ifdef MATRIX_ENGINE
/* the extension's function; old headers lack it, the compiler behind them does not */
float8 __attribute__((overloadable)) intel_sub_group_bf16_bf16_matrix_mad_k16(lane_of_a a, int8 b, float8 c);
#endif

__attribute__((intel_reqd_sub_group_size(SG)))
kernel void tile_product(global const ushort *a, global const ushort *b, global float *c)
{
    int lane = get_sub_group_local_id();
    size_t tile = get_group_id(0);
    a += tile * 8 * 16;
    b += tile * 16 * SG;
    c += tile * 8 * SG;
#ifdef MATRIX_ENGINE
    float8 sum;
    for (int row = 0; row < 8; row++)
        sum[row] = c[row * SG + lane];
    lane_of_a mine;
    for (int row = 0; row < 8; row++)
        mine[row] = *(global const SHARE *)(a + row * 16 + lane * (16 / SG));
    int8 column;
    for (int pair = 0; pair < 8; pair++)
        column[pair] = ((global const int *)b)[pair * SG + lane];
    sum = intel_sub_group_bf16_bf16_matrix_mad_k16(mine, column, sum);
    for (int row = 0; row < 8; row++)
        c[row * SG + lane] = sum[row];
#else
    for (int row = 0; row < 8; row++) {
        float sum = c[row * SG + lane];
        for (int k = 0; k < 16; k++) {
            /* bfloat16 is the upper half of a float; two rows of B are interleaved */
            float left = as_float((uint)a[row * 16 + k] << 16);
            float right = as_float((uint)b[(k / 2 * SG + lane) * 2 + k % 2] << 16);
            sum += left * right;
        }
        c[row * SG + lane] = sum;
    }
#endif
}
