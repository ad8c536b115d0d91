kernel void add_steps(global uint *y, local uint *slm, const int stride, const int steps) {
    const uint i = get_global_id(0), place = get_local_id(0) * stride;
    slm[place] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < steps; ++step) {
        slm[place] += i * step;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[i] = slm[place];
}
