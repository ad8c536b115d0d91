kernel void triad_of_argument(global const float *a, global const float *b, global float *c, const int rounds,
                              const int c_shape0) {
    const int i = get_global_id(0);
    if (i >= c_shape0)
        return;
    float total = 0.0f;
    for (int j = 0; j < rounds; ++j)
        total += a[i] + b[i] * (FACTOR * j);
    c[i] = total;
}
