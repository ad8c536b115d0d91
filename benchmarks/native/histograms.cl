__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void count_privately(global const long *words, global int *counts) {
    const int i = get_local_id(0);
    const int first = (get_group_id(0) * get_local_size(0) + i / lanes * lanes) * BLOCK + i % lanes;
    dtype own[bins];
    for (int b = 0; b < bins; ++b)
        own[b] = 0;
    for (int k = 0; k < BLOCK; ++k) {
        const long word = words[first + k * lanes];
        for (int field = 0; field < fields; ++field)
            own[(word >> (bits * field)) & mask] += 1;
    }
    for (int b = 0; b < bins; ++b)
        atomic_add(counts + b, (int)own[b]);
}
