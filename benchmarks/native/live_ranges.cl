float weight(const int k, const float centre) {
    return SAMPLES + 1 - fabs(k - centre);
}

kernel void read_again(global const float *series, global const float *centres, global float *means,
                         global float *variances, const int means_shape0) {
    const int n = means_shape0, i = get_global_id(0);
    float total = 0.0f, mean = 0.0f, variance = 0.0f;
    #pragma unroll 4
    for (int k = 0; k < SAMPLES; ++k) {
        const float w = weight(k, centres[i]);
        total += w;
        mean += w * series[k * n + i];
    }
    mean /= total;
    means[i] = mean;
    #pragma unroll 4
    for (int k = 0; k < SAMPLES; ++k) {
        const float deviation = series[k * n + i] - mean;
        variance += weight(k, centres[i]) * deviation * deviation;
    }
    variances[i] = variance / total;
}
