kernel void sum_block_by_tree(global const int *x, global int *partials, local int *scratch, const int x_shape0) {
    const int lane = get_local_id(0), size = get_local_size(0), group = get_group_id(0);
    const int first = group * size * PER_ITEM, end = min(first + size * PER_ITEM, x_shape0);
    int total = 0;
    for (int k = first + lane; k < end; k += size)
        total += x[k];
    scratch[lane] = total;
    for (int active = size; active > 1;) {
        const int left = (active + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane + left < active)
            scratch[lane] += scratch[lane + left];
        active = left;
    }
    if (lane == 0)
        partials[group] = scratch[0];
}
