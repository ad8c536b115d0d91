__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void count_local(global const long *words, global int *counts, local int *of_group, const int zeroing_items) {
    const int i = get_local_id(0), size = get_local_size(0);
    const int first = (get_group_id(0) * size + i / lanes * lanes) * BLOCK + i % lanes;
    if (i < zeroing_items)
        for (int b = i; b < bins; b += zeroing_items)
            of_group[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < BLOCK; ++k) {
        const long word = words[first + k * lanes];
        for (int field = 0; field < fields; ++field)
            atomic_add(of_group + ((word >> (bits * field)) & mask), 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int b = i; b < bins; b += size)
        atomic_add(counts + b, of_group[b]);
}
