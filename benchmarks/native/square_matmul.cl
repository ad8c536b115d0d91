kernel void sum_in_register(global const number *a, global const number *b, global number *c, const int a_shape1) {
    const int n = a_shape1, col = get_global_id(0), row = get_global_id(1);
    number total = 0;
    for (int k = 0; k < n; ++k)
        total += a[row * n + k] * b[k * n + col];
    c[row * n + col] = total;
}

kernel void tiles_in_slm(global const number *a, global const number *b, global number *c, const int a_shape1) {
    local number tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int n = a_shape1, col = get_global_id(0), row = get_global_id(1), x = get_local_id(0), y = get_local_id(1);
    number total = 0;
    for (int first = 0; first < n; first += TILE) {
        tile_a[y][x] = a[row * n + first + x];
        tile_b[y][x] = b[(first + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k)
            total += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = total;
}
