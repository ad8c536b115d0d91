kernel void chase(global const uint *words, global uint *position, global int *travelled, const int steps,
                  const uint lines, const uint modulus) {
    const uint start = position[0];
    uint at = start;
    for (int step = 0; step < steps; ++step)
        at = words[at];
    position[0] = at;
    travelled[get_global_id(0)] = (words[at + 1] + lines - words[start + 1]) % modulus;
}
