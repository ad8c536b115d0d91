kernel void add_in_one_group(global const int *x, global int *total, local int *scratch, const int x_shape0) {
    const int lane = get_local_id(0), size = get_local_size(0);
    int own = 0;
    for (int k = lane; k < x_shape0; k += size)
        own += x[k];
    scratch[lane] = own;
    for (int active = size; active > 1;) {
        const int left = (active + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane + left < active)
            scratch[lane] += scratch[lane + left];
        active = left;
    }
    if (lane == 0)
        total[0] = scratch[0];
}
