"""Correlate two signals by the library's Fourier transforms, and leave all of it on the device."""

import dpnp
import numpy as np

from xebench import Claim, Pattern, Problem, kernel, output
from xebench import kernel_api as kapi

pattern = Pattern(
    name="fourier_correlation",
    catalogue=("E60",),
    guide="Using Libraries for GPU Offload / Efficiently Implementing Fourier Correlation",
    lesson="Compose a better algorithm of a library's parts; a step on the host brings the data to it and back.",
    presets={
        "smoke": {"n": (256, 251)},
        # the definition's products grow with the square
        "default": {"n": ({"cpu": 1 << 12, "gpu": 1 << 16}, 1 << 11, 1 << 10)},
        "guide": {"n": 1 << 16},
    },
    own_sizes="the guide's default, 32, is an example to read",
    metric="wall",
    requires=("usm_shared", "onemkl"),
    atol=1e-4,  # of sums up to 3; a transform in float32 errs by some 1e-6 of the largest
)

# Transforms of complex numbers, twice the work of the guide's real ones: the pinned dpnp has no `irfft`.

WIDTH = 3  # elements of the signal proper, which is 1 among noise


@pattern.problem
def noise(rng, n):
    """Noise as weak as the guide's; the variants put the signal into it."""
    first, second = rng.uniform(-0.00005, 0.00005, (2, n)).astype(np.float32)
    return Problem(first=first, second=second, correlation=output(n, np.float32), shift=output(1, np.int64, host=True))


def places(n):
    """Where the two signals begin."""
    return n - n // 4 - 1, n // 4 - 1


@pattern.reference
def expected(p):
    first, second = p.first.astype(np.float64), p.second.astype(np.float64)
    for signal, place in zip((first, second), places(p.n), strict=True):
        signal[place : place + WIDTH] = 1
    correlation = np.fft.irfft(np.fft.rfft(first) * np.conj(np.fft.rfft(second)), p.n)
    return {"correlation": correlation, "shift": [np.argmax(correlation)]}


@kernel
def put_signals(item: kapi.Item, first, second, first_place, second_place):
    i = item.get_id(0)
    first[first_place + i] = np.float32(1)
    second[second_place + i] = np.float32(1)


@kernel
def correlate_each(item: kapi.Item, first, second, correlation):
    """A work-item for each shift: all products of it. What is shifted beyond the end begins again."""
    shift = item.get_id(0)
    n = correlation.shape[0]
    total = np.float32(0)
    for i in range(n - shift):
        total += first[i + shift] * second[i]
    for i in range(n - shift, n):
        total += first[i + shift - n] * second[i]
    correlation[shift] = total


def noisy_signals(session, p):
    """Arrays of shared memory, as in the guide; and a function in which the device writes the noise to them.

    The noise comes from other arrays of the device, in place of the guide's generator there.
    """
    signals = [session.alloc(p.n, np.float32, usm="shared") for _ in range(2)]

    def make_noise():
        session.copy(signals[0], p.first)
        session.copy(signals[1], p.second)

    return signals, make_noise


def transform(session, p, first, second):
    """The correlation by three transforms."""
    spectrum = session.call(dpnp.fft.fft, first)
    conjugate = session.call(dpnp.conj, session.call(dpnp.fft.fft, second))
    product = session.call(dpnp.multiply, spectrum, conjugate)
    correlation = session.call(dpnp.real, session.call(dpnp.fft.ifft, product))
    session.call(dpnp.copyto, dpnp.asarray(p.correlation), correlation)


def shift_on_host(session, p, correlation):
    """All of the correlation comes to the host, which looks for its largest element."""
    session.copy(correlation, p.correlation)
    session.wait()
    p.shift[0] = np.argmax(correlation)


@pattern.naive
def every_shift(session, p):
    """The definition: n products for each of n shifts."""
    signals, make_noise = noisy_signals(session, p)
    correlation = np.empty(p.n, np.float32)

    def timed():
        make_noise()
        session.launch(put_signals, kapi.Range(WIDTH), *signals, *places(p.n))
        session.launch(correlate_each, kapi.Range(p.n), *signals, p.correlation)
        shift_on_host(session, p, correlation)

    return timed


@pattern.intermediate(claim=Claim("faster", strength="implied", source="G 5957 to 5979"))
def host_puts_signals(session, p):
    """Fourier transforms; but the host writes a few elements, so that the signals move to it and back by themselves."""
    signals, make_noise = noisy_signals(session, p)
    seen_by_host = [np.ndarray(p.n, np.float32, buffer=signal.usm_data) for signal in signals]
    correlation = np.empty(p.n, np.float32)

    def timed():
        make_noise()
        session.wait()
        for signal, place in zip(seen_by_host, places(p.n), strict=True):
            signal[place : place + WIDTH] = 1
        transform(session, p, *signals)
        shift_on_host(session, p, correlation)

    return timed


@pattern.intermediate(
    claim=(
        Claim("faster", strength="implied", source="G 5957 to 5979"),
        Claim("faster", against="host_puts_signals", on=("gpu",), source="G 6290 to 6294"),
    )
)
def signals_by_kernel(session, p):
    """A kernel writes them."""
    signals, make_noise = noisy_signals(session, p)
    correlation = np.empty(p.n, np.float32)

    def timed():
        make_noise()
        session.wait()  # as the guide does in all of its programs
        session.launch(put_signals, kapi.Range(WIDTH), *signals, *places(p.n))
        session.wait()
        transform(session, p, *signals)
        shift_on_host(session, p, correlation)

    return timed


@pattern.optimized(
    claim=(
        Claim("faster", source="G 5957 to 5986"),
        Claim("faster", against="signals_by_kernel", on=("gpu",), source="G 6423"),
    )
)
def all_on_device(session, p):
    """The device looks for the largest element, too: the host gets one number."""
    signals, make_noise = noisy_signals(session, p)

    def timed():
        make_noise()
        session.wait()
        session.launch(put_signals, kapi.Range(WIDTH), *signals, *places(p.n))
        session.wait()
        transform(session, p, *signals)
        session.copy(p.shift, session.call(dpnp.argmax, p.correlation))

    return timed
