__attribute__((intel_reqd_sub_group_size(SUB_GROUP)))
kernel void next_place_early(global const int *places, global const float *values, global float *sums,
                             const int places_shape1) {
    const int steps = places_shape1 - AHEAD, i = get_local_id(0);
    global const int *mine = places + i / SUB_GROUP * places_shape1 * SUB_GROUP + i % SUB_GROUP;
    float total = 0.0f;
    int place = mine[0];
    __attribute__((opencl_unroll_hint(1)))
    for (int step = 0; step < steps; ++step) {
        const float value = values[place];
        place = mine[(step + 1) * SUB_GROUP];
        __attribute__((opencl_unroll_hint(8)))
        for (int m = 0; m < ROOTS; ++m)
            total += sqrt(value + m);
    }
    sums[i] = total;
}
