kernel void next_place_early(global const int *places, global const float *values, global float *sums,
                             const int places_shape0) {
    const int n = places_shape0, i = get_local_id(0), size = get_local_size(0);
    float total = 0.0f;
    int place = places[i];
    __attribute__((opencl_unroll_hint(1)))
    for (int k = i; k < n; k += size) {
        const float value = values[place];
        place = places[min(k + size, n - 1)];
        __attribute__((opencl_unroll_hint(1)))
        for (int m = 0; m < ROOTS; ++m)
            total += sqrt(value + m);
    }
    sums[i] = total;
}
