// Twins of kernels.py, as a competent hand writes them: indices of 32 bits, one row length for arrays of one shape.
#pragma OPENCL FP_CONTRACT OFF

kernel void floyd_warshall(global float *distance, int n, int k) {
    int i = get_global_id(0), j = get_global_id(1);
    distance[i * n + j] = fmin(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
}

kernel void sparse_times_vector(global const int *first, global const int *column, global const float *value,
                                global const float *x, global float *y) {
    int row = get_global_id(0);
    float total = 0;
    for (int at = first[row]; at < first[row + 1]; at++)
        total += value[at] * x[column[at]];
    y[row] = total;
}

kernel void resize(global const float *image, int rows, int columns, global float *smaller, int width, float step) {
    int i = get_global_id(0), j = get_global_id(1);
    float y = i * step, x = j * step;
    int top = y, left = x;
    int bottom = min(top + 1, rows - 1), right = min(left + 1, columns - 1);
    float v = y - top, u = x - left;
    float upper = image[top * columns + left] * (1 - u) + image[top * columns + right] * u;
    float lower = image[bottom * columns + left] * (1 - u) + image[bottom * columns + right] * u;
    smaller[i * width + j] = upper * (1 - v) + lower * v;
}

kernel void convolve(global const float *image, int rows, int columns, global const float *weights, int width,
                     global float *result) {
    int i = get_global_id(0), j = get_global_id(1), reach = width / 2;
    float total = 0;
    for (int k = -reach; k <= reach; k++)
        for (int l = -reach; l <= reach; l++) {
            int row = clamp(i + k, 0, rows - 1), column = clamp(j + l, 0, columns - 1);
            total += weights[(k + reach) * width + l + reach] * image[row * columns + column];
        }
    result[i * columns + j] = total;
}

kernel void eliminate(global float *a, int n, int k) {
    int i = get_global_id(0) + k + 1, j = get_global_id(1) + k + 1;
    a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

kernel void live(global const char *cells, int rows, int columns, global char *after) {
    int i = get_global_id(0), j = get_global_id(1);
    int above = (i + rows - 1) % rows, below = (i + 1) % rows;
    int left = (j + columns - 1) % columns, right = (j + 1) % columns;
    int count = cells[above * columns + left] + cells[above * columns + j] + cells[above * columns + right];
    count += cells[i * columns + left] + cells[i * columns + right];
    count += cells[below * columns + left] + cells[below * columns + j] + cells[below * columns + right];
    after[i * columns + j] = count == 3 || (count == 2 && cells[i * columns + j] == 1);
}

kernel void solve_tridiagonal(global const float *lower, global const float *diagonal, global const float *upper,
                              global float *x, global float *work, int n, int systems) {
    int s = get_global_id(0);
    work[s] = upper[s] / diagonal[s];
    x[s] = x[s] / diagonal[s];
    for (int i = 1; i < n; i++) {
        int at = i * systems + s, before = at - systems;
        float pivot = 1.0f / (diagonal[at] - lower[at] * work[before]);
        work[at] = upper[at] * pivot;
        x[at] = (x[at] - lower[at] * x[before]) * pivot;
    }
    for (int i = n - 2; i >= 0; i--) {
        int at = i * systems + s;
        x[at] -= work[at] * x[at + systems];
    }
}

kernel void stockham(global const float *real, global const float *imaginary, global const float *twiddle_real,
                     global const float *twiddle_imaginary, global float *to_real, global float *to_imaginary, int n,
                     int block) {
    int i = get_global_id(0), half_n = n / 2, within = i & (block - 1), turn = within * (half_n / block);
    float w = twiddle_real[turn], v = twiddle_imaginary[turn];
    float a = real[i], b = imaginary[i], c = real[i + half_n], d = imaginary[i + half_n];
    float p = c * w - d * v, q = c * v + d * w;
    int out = ((i - within) << 1) + within;
    to_real[out] = a + p;
    to_imaginary[out] = b + q;
    to_real[out + block] = a - p;
    to_imaginary[out + block] = b - q;
}

kernel void prefix_sums(global const float *x, global float *sums, local float *tile) {
    int l = get_local_id(0), i = get_global_id(0), source = 0;
    tile[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < GROUP; step *= 2) {
        float sum = tile[source * GROUP + l];
        if (l >= step)
            sum += tile[source * GROUP + l - step];
        tile[(1 - source) * GROUP + l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        source = 1 - source;
    }
    sums[i] = tile[source * GROUP + l];
}

kernel void stream_and_collide(global const float *before, global float *after, global const int *across,
                               global const int *up, global const float *weight, int rows, int columns, float rate) {
    int y = get_global_id(0) + 1, x = get_global_id(1) + 1;
    float density = 0, flow_x = 0, flow_y = 0;
    for (int k = 0; k < 9; k++) {
        float particles = before[(k * rows + y - up[k]) * columns + x - across[k]];
        density += particles;
        flow_x += particles * across[k];
        flow_y += particles * up[k];
    }
    flow_x /= density;
    flow_y /= density;
    float squared = flow_x * flow_x + flow_y * flow_y;
    for (int k = 0; k < 9; k++) {
        float along = across[k] * flow_x + up[k] * flow_y;
        float still = weight[k] * density * (1 + 3 * along + 4.5f * along * along - 1.5f * squared);
        float particles = before[(k * rows + y - up[k]) * columns + x - across[k]];
        after[(k * rows + y) * columns + x] = particles - rate * (particles - still);
    }
}
