kernel void read_slm_serial(global const int *signal, global const int *weights, global int *y, local int *window) {
    const int i = get_global_id(0), group = get_group_id(0), size = get_local_size(0), lane = get_local_id(0);
    window[lane + HALO] = signal[i];
    if (lane == 0) {
        if (group == 0)
            for (int k = 0; k < HALO; ++k)
                window[k] = 0;
        else
            for (int k = 0; k < HALO; ++k)
                window[k] = signal[i - HALO + k];
    }
    if (lane == size - 1) {
        if (group == (int)get_num_groups(0) - 1)
            for (int k = 0; k < HALO; ++k)
                window[size + HALO + k] = 0;
        else
            for (int k = 0; k < HALO; ++k)
                window[size + HALO + k] = signal[i + 1 + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int total = 0;
    for (int k = 0; k < M; ++k)
        total += window[lane + k] * weights[k];
    y[i] = total;
}

kernel void read_slm(global const int *signal, global const int *weights, global int *y, local int *window,
                     const int signal_shape0) {
    const int i = get_global_id(0), lane = get_local_id(0), size = get_local_size(0);
    const int first = (int)(get_group_id(0) * size) - HALO;
    for (int k = lane; k < size + 2 * HALO; k += size) {
        const int place = first + k;
        window[k] = 0 <= place && place < signal_shape0 ? signal[place] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int total = 0;
    for (int k = 0; k < M; ++k)
        total += window[lane + k] * weights[k];
    y[i] = total;
}
