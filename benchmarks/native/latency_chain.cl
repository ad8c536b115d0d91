kernel void advance_each(global const int *x, global int *y, const int steps, const int y_shape0) {
    const int items = get_global_size(0);
    for (int i = get_global_id(0); i < y_shape0; i += items) {
        uint value = x[i];
        for (int step = 0; step < steps / UNROLLED; ++step) {
            #pragma unroll
            for (int k = 0; k < UNROLLED; ++k)
                value = value * value + ADDEND;
        }
        y[i] = value;
    }
}
