__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void sum_of_group(global const int *x, global int *total, local int *scratch, const int x_shape0) {
    const int lane = get_local_id(0), items = get_global_size(0);
    int own = 0;
    for (int i = get_global_id(0); i < x_shape0; i += items)
        own += x[i];
    scratch[lane] = own;
    for (int active = get_local_size(0) / 2; active > 0; active /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < active)
            scratch[lane] += scratch[lane + active];
    }
    if (lane == 0)
        atomic_add(total, scratch[0]);
}
