kernel void everything(global const int *a, global const int *b, global const int *c, global const int *d,
                       global int *y, const int y_shape0) {
    const int i = get_global_id(0);
    if (i < y_shape0)
        y[i] = a[i] + b[i] > LIMIT ? c[i] + d[i] : d[i];
}
