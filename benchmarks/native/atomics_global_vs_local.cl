kernel void add_to_local(global const int *x, global int *total, const int x_shape0) {
    local int of_group;
    const int i = get_global_id(0), lane = get_local_id(0);
    if (lane == 0)
        of_group = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < x_shape0)
        atomic_add(&of_group, x[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0)
        atomic_add(total, of_group);
}
