kernel void mix(global const float *x, global float *y, const int steps, const int y_shape1) {
    const int n = y_shape1, i = get_global_id(0);
    if (i >= n)
        return;
    float own[values];
#pragma unroll
    for (int k = 0; k < values; ++k)
        own[k] = x[k * n + i];
    __attribute__((opencl_unroll_hint(1)))
    for (int step = 0; step < steps; ++step) {
#pragma unroll
        for (int k = 0; k < values; ++k)
            own[k] = 0.5f * own[k] + 0.25f * own[(k + 1) % values];
    }
#pragma unroll
    for (int k = 0; k < values; ++k)
        y[k * n + i] = own[k];
}
