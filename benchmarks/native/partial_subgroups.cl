__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void copy_by_sub_group(global const int *x, global int *y) {
    const int before = get_group_id(0) * get_local_size(0) + get_sub_group_id() * SUB_GROUP_SIZE;
    const int first = before * PER_ITEM + get_sub_group_local_id(), step = get_sub_group_size();
    for (int k = 0; k < PER_ITEM; ++k)
        y[first + k * step] = x[first + k * step];
}
