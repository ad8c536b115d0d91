kernel void read_slm(global const int *x, global const int *weights, global int *y, local int *window) {
    const int i = get_global_id(0), lane = get_local_id(0), size = get_local_size(0), first = get_group_id(0) * size;
    for (int k = lane; k < size + 2 * HALO; k += size)
        window[k] = x[first + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    int total = 0;
    for (int k = 0; k < M; ++k)
        total += window[lane + k] * weights[k];
    y[i] = total;
}
