float weight(const int k, const float centre) {
    const float distance = k - centre;
    return 1.0f / (1.0f + distance * distance);
}

kernel void keep_nothing(global const float *series, global const float *centres, global float *means,
                         global float *variances, const int means_shape0) {
    const int n = means_shape0, i = get_global_id(0);
    float total = 0.0f, mean = 0.0f, variance = 0.0f;
    #pragma unroll
    for (int k = 0; k < SAMPLES; ++k) {
        const float w = weight(k, centres[i]);
        total += w;
        mean += w * series[k * n + i];
    }
    mean /= total;
    means[i] = mean;
    #pragma unroll
    for (int k = 0; k < SAMPLES; ++k) {
        const float deviation = series[k * n + i] - mean;
        variance += weight(k, centres[i]) * deviation * deviation;
    }
    variances[i] = variance / total;
}
