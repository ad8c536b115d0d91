float pull(const float target, const float source) {
    const float delta = source - target, r2 = delta * delta, s = 1.0f / sqrt(r2 + SOFTENING);
    return (s * s * s - (M0 + r2 * (M1 + r2 * (M2 + r2 * (M3 + r2 * (M4 + r2 * M5)))))) * delta;
}

#ifdef SUB_GROUP_SIZE
__attribute__((intel_reqd_sub_group_size(SUB_GROUP_SIZE)))
#endif
kernel void add_forces(global const float *targets, global const float *sources, global float *forces,
                       const int targets_shape0, const int sources_shape0) {
    const int i = get_global_id(0);
    if (i >= targets_shape0)
        return;
    const float own = targets[i];
    float force = 0.0f, tile[TILE];
    for (int first = 0; first < sources_shape0; first += TILE) {
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            tile[k] = sources[first + k];
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            force += pull(own, tile[k]);
    }
    forces[i] = SCALE * force;
}
