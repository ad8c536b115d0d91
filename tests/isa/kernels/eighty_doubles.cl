/* Ten groups of eight doubles of a work-item, all alive until the end: 160 registers of 32 bits for each lane. */
kernel void eighty_doubles(global const double8 *in, global double8 *out)
{
    global const double8 *mine = in + get_global_id(0) * 10;
    global double8 *result = out + get_global_id(0) * 10;
    double8 a = mine[0], b = mine[1], c = mine[2], d = mine[3], e = mine[4];
    double8 f = mine[5], g = mine[6], h = mine[7], i = mine[8], j = mine[9];
    double8 low = a + j, high = b + i;
    double8 inner = c + h + low, outer = d + g + high, rest = e + f + inner;
    low = low + outer + a;
    high = high + rest + f;
    result[0] += low;
    result[1] += high;
    result[2] += inner;
    result[3] += outer;
    result[4] += rest;
    result[5] += b;
    result[6] += c;
    result[7] += d;
    result[8] += e;
    result[9] += g;
}
