kernel void store_interleaved(global int *x, const int value) {
    const uint i = get_global_id(0), first = i / interleave * interleave * PER_ITEM + i % interleave;
    for (uint k = 0; k < PER_ITEM; ++k)
        x[first + k * interleave] = value;
}
