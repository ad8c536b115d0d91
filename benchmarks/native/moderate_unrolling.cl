kernel void add_polynomials(global const float *x, global float *y, const int y_shape0) {
    const int n = y_shape0, i = get_global_id(0);
    float total = 0.0f;
    __attribute__((opencl_unroll_hint(4)))
    for (int step = 0; step < STEPS; ++step) {
        const float value = x[step * n + i];
        float term = 1.0f / 8;
        term = term * value + 1.0f / 7;
        term = term * value + 1.0f / 6;
        term = term * value + 1.0f / 5;
        term = term * value + 1.0f / 4;
        term = term * value + 1.0f / 3;
        term = term * value + 1.0f / 2;
        total += term * value + 1.0f;
    }
    y[i] = total;
}
