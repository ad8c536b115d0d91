kernel void select_by_lane(global const int *x, global int *y, const int steps) {
    const int i = get_global_id(0);
    const uint factor = i % 2 == 0 ? EVEN_FACTOR : ODD_FACTOR, mask = i % 2 == 0 ? EVEN_MASK : ODD_MASK;
    uint value = x[i];
    for (int step = 0; step < steps; ++step)
        value = value * factor ^ mask;
    y[i] = value;
}
