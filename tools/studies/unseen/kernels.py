"""Textbook algorithms, written before the compiler's rules for indices were looked at, and never tuned to."""

import numpy as np

from numba_sycl import kernel
from numba_sycl import kernel_api as kapi

f32, i32 = np.float32, np.int32
#: Work-items of a group of `prefix_sums`.
GROUP = 128


@kernel
def floyd_warshall(item: kapi.Item, distance, k):
    """One step of all shortest paths (Floyd, 1962)."""
    i, j = item.get_id(0), item.get_id(1)
    distance[i, j] = min(distance[i, j], distance[i, k] + distance[k, j])


@kernel
def sparse_times_vector(item: kapi.Item, first, column, value, x, y):
    """A row of a sparse matrix in CSR times a vector."""
    row = item.get_id(0)
    total = f32(0)
    for at in range(first[row], first[row + 1]):
        total += value[at] * x[column[at]]
    y[row] = total


@kernel
def resize(item: kapi.Item, image, smaller, step):
    """Bilinear resampling of an image."""
    i, j = item.get_id(0), item.get_id(1)
    y, x = f32(i) * step, f32(j) * step
    top, left = i32(y), i32(x)
    bottom, right = min(top + 1, image.shape[0] - 1), min(left + 1, image.shape[1] - 1)
    v, u = y - f32(top), x - f32(left)
    upper = image[top, left] * (f32(1) - u) + image[top, right] * u
    lower = image[bottom, left] * (f32(1) - u) + image[bottom, right] * u
    smaller[i, j] = upper * (f32(1) - v) + lower * v


@kernel
def convolve(item: kapi.Item, image, weights, result):
    """A convolution whose window is clamped to the image."""
    i, j = item.get_id(0), item.get_id(1)
    rows, columns = image.shape
    reach = weights.shape[0] // 2
    total = f32(0)
    for k in range(-reach, reach + 1):
        for m in range(-reach, reach + 1):
            row, column = min(max(i + k, 0), rows - 1), min(max(j + m, 0), columns - 1)
            total += weights[k + reach, m + reach] * image[row, column]
    result[i, j] = total


@kernel
def eliminate(item: kapi.Item, a, k):
    """The update of the trailing matrix in a step of LU decomposition."""
    i, j = item.get_id(0) + k + 1, item.get_id(1) + k + 1
    a[i, j] -= a[i, k] * a[k, j]


@kernel
def live(item: kapi.Item, cells, after):
    """A generation of Conway's game of life on a torus."""
    i, j = item.get_id(0), item.get_id(1)
    rows, columns = cells.shape
    above, below = (i + rows - 1) % rows, (i + 1) % rows
    left, right = (j + columns - 1) % columns, (j + 1) % columns
    count = i32(cells[above, left]) + i32(cells[above, j]) + i32(cells[above, right])
    count += i32(cells[i, left]) + i32(cells[i, right])
    count += i32(cells[below, left]) + i32(cells[below, j]) + i32(cells[below, right])
    after[i, j] = 1 if count == 3 or (count == 2 and cells[i, j] == 1) else 0


@kernel
def solve_tridiagonal(item: kapi.Item, lower, diagonal, upper, x, work):
    """Thomas's algorithm; a system is a column, and its right-hand side becomes the solution."""
    s = item.get_id(0)
    n = x.shape[0]
    work[0, s] = upper[0, s] / diagonal[0, s]
    x[0, s] = x[0, s] / diagonal[0, s]
    for i in range(1, n):
        pivot = f32(1) / (diagonal[i, s] - lower[i, s] * work[i - 1, s])
        work[i, s] = upper[i, s] * pivot
        x[i, s] = (x[i, s] - lower[i, s] * x[i - 1, s]) * pivot
    for i in range(n - 2, -1, -1):
        x[i, s] -= work[i, s] * x[i + 1, s]


@kernel
def stockham(item: kapi.Item, real, imaginary, twiddle_real, twiddle_imaginary, to_real, to_imaginary, block):
    """One stage of Stockham's radix-2 FFT; *block* is a power of two."""
    i = item.get_id(0)
    half = real.shape[0] // 2
    within = i & (block - 1)
    turn = within * (half // block)
    w, v = twiddle_real[turn], twiddle_imaginary[turn]
    a, b = real[i], imaginary[i]
    c, d = real[i + half], imaginary[i + half]
    p, q = c * w - d * v, c * v + d * w
    out = ((i - within) << 1) + within
    to_real[out], to_imaginary[out] = a + p, b + q
    to_real[out + block], to_imaginary[out + block] = a - p, b - q


@kernel
def prefix_sums(item: kapi.NdItem, x, sums, tile):
    """Sums of all elements before each in a group (Hillis and Steele, 1986), in two rows of local memory."""
    lane, i = item.get_local_id(0), item.get_global_id(0)
    tile[0, lane] = x[i]
    kapi.group_barrier(item.get_group())
    source, step = 0, 1
    while step < GROUP:
        if lane >= step:
            tile[1 - source, lane] = tile[source, lane] + tile[source, lane - step]
        else:
            tile[1 - source, lane] = tile[source, lane]
        kapi.group_barrier(item.get_group())
        source = 1 - source
        step *= 2
    sums[i] = tile[source, lane]


@kernel
def stream_and_collide(item: kapi.Item, before, after, across, up, weight, rate):
    """A step of the lattice Boltzmann method in two dimensions with nine speeds, inside of its walls."""
    y, x = item.get_id(0) + 1, item.get_id(1) + 1
    density, flow_x, flow_y = f32(0), f32(0), f32(0)
    for k in range(9):
        particles = before[k, y - up[k], x - across[k]]
        density += particles
        flow_x += particles * f32(across[k])
        flow_y += particles * f32(up[k])
    flow_x /= density
    flow_y /= density
    squared = flow_x * flow_x + flow_y * flow_y
    for k in range(9):
        along = f32(across[k]) * flow_x + f32(up[k]) * flow_y
        still = weight[k] * density * (f32(1) + f32(3) * along + f32(4.5) * along * along - f32(1.5) * squared)
        particles = before[k, y - up[k], x - across[k]]
        after[k, y, x] = particles - rate * (particles - still)
