int sum_of_row(global const int *grid, const int width, const int row, const int column) {
    global const int *of_row = grid + row * width + column;
    return of_row[0] + of_row[1] + of_row[2];
}

kernel void sum_blocks_of_rows(global const int *grid, global int *sums, const int sums_shape0, const int sums_shape1) {
    const int rows = sums_shape0, columns = sums_shape1, width = columns + 2;
    const int column = get_global_id(0), first = get_global_id(1) * BLOCK, end = min(first + BLOCK, rows);
    if (column >= columns)
        return;
    int prior = sum_of_row(grid, width, first, column), current = sum_of_row(grid, width, first + 1, column);
    for (int row = first; row < end; ++row) {
        const int following = sum_of_row(grid, width, row + 2, column);
        sums[row * columns + column] = prior + current + following;
        prior = current;
        current = following;
    }
}
