ulong skip_ahead(ulong state, uint steps) {
    for (ulong factor = MULTIPLIER; steps > 0; steps >>= 1) {
        if (steps & 1)
            state = state * factor % MODULUS;
        factor = factor * factor % MODULUS;
    }
    return state;
}

kernel void engine_per_item(global float *y, const ulong seed, const int y_shape0) {
    const int size = get_local_size(0), first = get_group_id(0) * size * PER_ITEM + get_local_id(0);
    const ulong jump = skip_ahead(1, size);
    ulong state = skip_ahead(seed, first + 1);
    for (int k = 0; k < PER_ITEM; ++k) {
        const int i = first + k * size;
        if (i < y_shape0)
            y[i] = state * (1.0f / MODULUS);
        state = state * jump % MODULUS;
    }
}
