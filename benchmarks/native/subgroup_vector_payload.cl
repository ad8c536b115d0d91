kernel void copy_vectors(global const int4 *x, global int4 *y) {
    const uint i = get_global_id(0), first = i / interleave * interleave * (PER_ITEM / PAYLOAD) + i % interleave;
    for (uint k = 0; k < PER_ITEM / PAYLOAD; ++k)
        y[first + k * interleave] = x[first + k * interleave];
}
