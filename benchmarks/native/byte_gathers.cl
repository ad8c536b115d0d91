kernel void gather(global const uchar *table, global const int *places, global uchar *found, const int found_shape0) {
    const int i = get_global_id(0);
    if (i < found_shape0)
        found[i] = table[places[i]];
}
