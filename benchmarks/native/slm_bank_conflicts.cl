kernel void chase(global const int *next_hop, global int *ends, local uint *slm, const int stride, const int steps,
                  const int ends_shape0) {
    const uint i = get_global_id(0), first = get_local_id(0) * stride, row = get_local_size(0) * stride;
    for (int hop = 0; hop < HOPS; ++hop)
        slm[first + hop * row] = first + next_hop[hop * ends_shape0 + i] * row;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint a = first, b = first + row, c = first + 2 * row, d = first + 3 * row;
    for (int step = 0; step < steps; ++step) {
        a = slm[a];
        b = slm[b];
        c = slm[c];
        d = slm[d];
    }
    for (int hop = 0; hop < HOPS; ++hop)
        slm[first + hop * row] = hop;
    ends[i] = slm[a] + 4 * slm[b] + 16 * slm[c] + 64 * slm[d];
}
