kernel void iterate_natively(global const float *starts, global float *y, const int steps) {
    const uint i = get_global_id(0);
    float value = starts[i % STARTS];
    for (int step = 0; step < steps; ++step)
        value += native_log(value);
    y[i] = value;
}
