__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void add_slice(global const int *a, global const int *b, global int *total, const int part, const int rounds,
                      const int total_shape0) {
    const int first = get_group_id(0) * part, size = get_local_size(0);
    const int end = min(first + part, total_shape0);
    for (int round = 0; round < rounds; ++round)
        for (int i = first + get_local_id(0); i < end; i += size)
            total[i] = a[i] + b[i];
}
