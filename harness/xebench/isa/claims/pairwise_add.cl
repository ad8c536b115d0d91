/* Two elements of a sum at a time: plainly, with all loads first, or with pointers that promise not to overlap. */
#ifdef RESTRICT
#define POINTER *restrict
#else
#define POINTER *
#endif

__attribute__((intel_reqd_sub_group_size(16)))
kernel void pairwise_add(global const int POINTER a, global const int POINTER b, global int POINTER sum, int n)
{
    for (int i = get_local_id(0); i < n; i += 32) {
#ifdef LOADS_FIRST
        int first = a[i], second = b[i];
        int third = a[i + 16], fourth = b[i + 16];
        sum[i] = first + second;
        sum[i + 16] = third + fourth;
#else
        sum[i] = a[i] + b[i];
        sum[i + 16] = a[i + 16] + b[i + 16];
#endif
    }
}
