kernel void add_scaled(global const float *a, global const float *b, global float *y, const int y_shape0) {
    const int i = get_global_id(0);
    if (i < y_shape0)
        y[i] = a[i] + FACTOR * b[i];
}
