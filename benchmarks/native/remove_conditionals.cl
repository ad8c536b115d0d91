kernel void bound_loop(global const int *signal, global const int *weights, global int *y, const int signal_shape0) {
    const int i = get_global_id(0), end = min(signal_shape0 + HALO - i, M);
    int total = 0;
    for (int k = max(HALO - i, 0); k < end; ++k)
        total += signal[i - HALO + k] * weights[k];
    y[i] = total;
}
