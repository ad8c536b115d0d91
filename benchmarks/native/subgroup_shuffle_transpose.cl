kernel void transpose_tiles(global const uint *x, global uint *y, const int x_shape1) {
    local uint tile[TILE][TILE + 1];
    const int n = x_shape1, col = get_local_id(0), row = get_local_id(1);
    const int first_col = get_group_id(0) * TILE, first_row = get_group_id(1) * TILE;
    tile[row][col] = x[(first_row + row) * n + first_col + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[(first_col + row) * n + first_row + col] = tile[col][row];
}
