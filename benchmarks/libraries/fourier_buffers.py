"""Keep signals on the device between the steps of a correlation: by buffers, or by shared memory and some care."""

import math

import numpy as np

from xebench import Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="fourier_buffers",
    catalogue=("fourier_buffers",),
    guide="Using Libraries for GPU Offload / Efficiently Implementing Fourier Correlation",
    lesson="A buffer goes to the host where an accessor asks; shared memory goes there with each write of the host.",
    presets={
        "smoke": {"n": 256},
        "default": {"n": {"cpu": 1 << 12, "gpu": 1 << 16}},
        "guide": {"n": 1 << 16},
    },
    own_sizes="the guide's default, 32, is an example to read",
    metric="wall",
    requires=("usm_shared",),
    stand_in="oneMKL's transforms of buffers are C++ templates, whose headers (onemkl-sycl-include) come in no package "
    "that xebench needs, and its functions for Python take USM. Kernels of ours transform in all variants, so that "
    "their memory is all that differs. They take sizes that are powers of two. Dozens of launches take longer than the "
    "transfers that the guide compares, so nothing is claimed of them (G 6290 to 6309); `fourier_correlation` "
    "has the first of them.",
    atol=1e-4,  # of sums up to 3; a transform in float32 errs by some 1e-6 of the largest
)

MULTIPLIER, MODULUS = 48271, (1 << 31) - 1  # of a generator of random numbers
WIDTH = 3  # elements of the signal proper, which is 1 among noise
NOISE = 0.0001


@kernel
def make_noise(item: kapi.Item, real, imaginary, seed):
    i = item.get_id(0)
    state = (seed + i) * MULTIPLIER % MODULUS
    real[i] = (np.float32(state) * np.float32(1 / MODULUS) - np.float32(0.5)) * np.float32(NOISE)
    imaginary[i] = np.float32(0)


@kernel
def put_signal(item: kapi.Item, real, place):
    real[place + item.get_id(0)] = np.float32(1)


@kernel
def stage(item: kapi.Item, real, imaginary, to_real, to_imaginary, width, angle):
    """A step of a Fourier transform (Stockham): sums and turned differences of elements half the array apart."""
    i = item.get_id(0)
    block = i // width
    half = real.shape[0] // 2
    to = i + block * width
    cosine = np.float32(math.cos(np.float32(block) * angle))
    sine = np.float32(math.sin(np.float32(block) * angle))
    difference = real[i] - real[i + half]
    other = imaginary[i] - imaginary[i + half]
    to_real[to] = real[i] + real[i + half]
    to_imaginary[to] = imaginary[i] + imaginary[i + half]
    to_real[to + width] = difference * cosine - other * sine
    to_imaginary[to + width] = difference * sine + other * cosine


@kernel
def multiply_conjugate(item: kapi.Item, real, imaginary, other_real, other_imaginary, to_real, to_imaginary):
    i = item.get_id(0)
    to_real[i] = real[i] * other_real[i] + imaginary[i] * other_imaginary[i]
    to_imaginary[i] = imaginary[i] * other_real[i] - real[i] * other_imaginary[i]


@pattern.problem
def two_seeds(rng, n):
    if n & (n - 1):
        raise ValueError(f"n={n}: give a power of two")
    seeds = rng.integers(1, MODULUS // 2, 2)
    return Problem(
        first_seed=int(seeds[0]),
        second_seed=int(seeds[1]),
        correlation=output(n, np.float32, host=True),
        shift=output(1, np.int64, host=True),
    )


def places(n):
    """Where the two signals begin."""
    return n - n // 4 - 1, n // 4 - 1


@pattern.reference
def expected(p):
    signals = []
    for seed, place in zip((p.first_seed, p.second_seed), places(p.n), strict=True):
        signal = ((seed + np.arange(p.n)) * MULTIPLIER % MODULUS / MODULUS - 0.5) * NOISE
        signal[place : place + WIDTH] = 1
        signals.append(np.fft.fft(signal))
    correlation = np.fft.ifft(signals[0] * np.conj(signals[1])).real
    return {"correlation": correlation, "shift": [np.argmax(correlation)]}


def transform(launch, n, data, spare, sign):
    """The Fourier transform of a pair of arrays, and the other pair."""
    for bit in range(n.bit_length() - 1):
        width = 1 << bit
        launch(stage, n // 2, *data, *spare, width, np.float32(sign * 2 * math.pi * width / n))
        data, spare = spare, data
    return data, spare


def correlate(launch, n, first, second, spare):
    """The array that holds n times the correlation, by three transforms."""
    first, spare = transform(launch, n, first, spare, -1)
    second, spare = transform(launch, n, second, spare, -1)
    launch(multiply_conjugate, n, *first, *second, *spare)
    (result, _), _ = transform(launch, n, spare, second, 1)
    return result


def take_result(p, on_host):
    np.multiply(on_host, np.float32(1 / p.n), out=p.correlation)
    p.shift[0] = np.argmax(p.correlation)


def by_shared_memory(session, p, host_writes):
    arrays = [session.alloc(p.n, np.float32, usm="shared") for _ in range(6)]
    first, second, spare = arrays[0:2], arrays[2:4], arrays[4:6]
    seen = {id(array): np.ndarray(p.n, np.float32, buffer=array.usm_data) for array in arrays}

    def launch(kernel, size, *arguments):
        session.launch(kernel, kapi.Range(size), *arguments)

    def timed():
        launch(make_noise, p.n, *first, p.first_seed)
        launch(make_noise, p.n, *second, p.second_seed)
        session.wait()  # as the guide does
        for (real, _), place in zip((first, second), places(p.n), strict=True):
            if host_writes:
                seen[id(real)][place : place + WIDTH] = 1
            else:
                launch(put_signal, WIDTH, real, place)
        result = correlate(launch, p.n, first, second, spare)
        session.wait()
        take_result(p, seen[id(result)])

    return timed


@pattern.naive
def host_puts_signals(session, p):
    """Shared memory, in which the host writes the signals: a few elements, for which pages move there and back."""
    return by_shared_memory(session, p, host_writes=True)


@pattern.intermediate
def kernel_puts_signals(session, p):
    """Shared memory, in which a kernel writes them."""
    return by_shared_memory(session, p, host_writes=False)


@pattern.optimized
def buffers(session, p):
    """Buffers and a kernel that writes the signals."""

    def launch(kernel, size, *arguments):
        objects = [each if isinstance(each, int | np.float32) else session.accessor(each) for each in arguments]
        session.launch(kernel, kapi.Range(size), *objects)

    first, second, spare = ([session.buffer(p.n, np.float32) for _ in range(2)] for _ in range(3))

    def timed():
        launch(make_noise, p.n, *first, p.first_seed)
        launch(make_noise, p.n, *second, p.second_seed)
        for (real, _), place in zip((first, second), places(p.n), strict=True):
            launch(put_signal, WIDTH, real, place)
        with session.host_accessor(correlate(launch, p.n, first, second, spare), "read") as host:
            take_result(p, host.array)

    return timed
