__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
kernel void four_arrays(global const uint *classes, global const float *samples, global float *statistics,
                        const int samples_shape1) {
    const int n = samples_shape1, i = get_global_id(0);
    float number[CLASSES] = {0}, total[CLASSES] = {0}, squares[CLASSES] = {0}, largest[CLASSES] = {0};
    for (int k = 0; k < SAMPLES; ++k) {
        const uint c = classes[k * n + i];
        const float x = samples[k * n + i];
        number[c] += 1.0f;
        total[c] += x;
        squares[c] += x * x;
        largest[c] = fmax(largest[c], x);
    }
    for (int c = 0; c < CLASSES; ++c) {
        statistics[(c * MEMBERS + 0) * n + i] = number[c];
        statistics[(c * MEMBERS + 1) * n + i] = total[c];
        statistics[(c * MEMBERS + 2) * n + i] = squares[c];
        statistics[(c * MEMBERS + 3) * n + i] = largest[c];
    }
}
