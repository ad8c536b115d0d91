kernel void apply_filters(global const float *series, global const float *filters, global float *y,
                          const int series_shape0, const int series_shape1) {
    const int n = series_shape1, i = get_global_id(0);
#pragma unroll
    for (int first = 0; first < FILTERS; first += at_a_time) {
        float sums[at_a_time] = {0};
        for (int k = 0; k < series_shape0; ++k) {
            const float x = series[k * n + i];
#pragma unroll
            for (int f = 0; f < at_a_time; ++f)
                sums[f] += x * filters[k * FILTERS + first + f];
        }
#pragma unroll
        for (int f = 0; f < at_a_time; ++f)
            y[(first + f) * n + i] = sums[f];
    }
}
