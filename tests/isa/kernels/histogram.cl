/* Counts bytes into 32 private bins, each work-item a part of the data of its own.
 * BIN is the type of a bin; VOLATILE makes them volatile; BY_ADDRESS handles the data through a pointer. */
#ifndef BIN
#define BIN uint
#endif
#ifdef VOLATILE
#define KIND volatile
#else
#define KIND
#endif
#define BINS 32

__attribute__((intel_reqd_sub_group_size(16)))
kernel void histogram(global const ulong *data, global int *total, int steps)
{
    KIND BIN bins[BINS];
    for (int k = 0; k < BINS; k++)
        bins[k] = 0;
    size_t i = get_group_id(0) * get_local_size(0) * steps + get_local_id(0);
    for (int step = 0; step < steps; step++) {
        ulong word = data[i + step * get_local_size(0)];
#ifdef BY_ADDRESS
        ulong *where = &word;
        for (int byte = 0; byte < 8; byte++) {
            bins[*where & (BINS - 1)] += 1;
            *where = *where >> 8;
        }
#else
        for (int byte = 0; byte < 8; byte++) {
            bins[word & (BINS - 1)] += 1;
            word = word >> 8;
        }
#endif
    }
    for (int k = 0; k < BINS; k++)
        atomic_add(total + k, (int)bins[k]);
}
