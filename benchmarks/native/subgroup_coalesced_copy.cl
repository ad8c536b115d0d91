kernel void copy_interleaved(global const int *x, global int *y) {
    const uint i = get_global_id(0), first = i / interleave * interleave * PER_ITEM + i % interleave;
    for (uint k = 0; k < PER_ITEM; ++k)
        y[first + k * interleave] = x[first + k * interleave];
}
