__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void add_strided(global const int *a, global const int *b, global int *total, const int rounds,
                        const int total_shape0) {
    const int items = get_global_size(0);
    for (int round = 0; round < rounds; ++round)
        for (int i = get_global_id(0); i < total_shape0; i += items)
            total[i] = a[i] + b[i];
}
