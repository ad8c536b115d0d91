kernel void gather_inflow(global const float *flows, global float *inflow, const int edge, const int per_cell,
                          const int per_field) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= edge)
        return;
    const int row = (edge + 2) * per_cell, layer = (edge + 2) * row;
    const int here = (z + 1) * layer + (y + 1) * row + (x + 1) * per_cell;
    inflow[(z * edge + y) * edge + x] = flows[here - per_cell] + flows[here + per_cell + per_field]
        + flows[here - row + 2 * per_field] + flows[here + row + 3 * per_field]
        + flows[here - layer + 4 * per_field] + flows[here + layer + 5 * per_field];
}
