"""dpnp against numpy by the host's clock: python docs/examples/dpnp_against_numpy.py [ELEMENTS] [SECONDS]."""

import sys

import xebench

session = xebench.open_session()  # before anything is taken out of dpnp

import dpnp  # noqa: E402
import numpy as np  # noqa: E402

ELEMENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 22
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0


def make_arrays(session):
    """Made again for every instance: the same numbers on the host and on the device."""
    x = np.random.default_rng(7).random(ELEMENTS, dtype=np.float32)
    return x, dpnp.asarray(x, sycl_queue=session.queue)


def by_numpy(x, on_device):
    """On the host."""
    return np.sqrt(x * x + 1)


def by_dpnp(x, on_device):
    """On the device, where the array is and the result stays; the wait is part of the time."""
    y = dpnp.sqrt(on_device * on_device + 1)
    session.queue.wait()
    return y


def there_and_back(x, on_device):
    """On the device, for a host that has the array and needs the result."""
    copied = dpnp.asarray(x, sycl_queue=session.queue)
    return dpnp.asnumpy(dpnp.sqrt(copied * copied + 1))


compared = xebench.compare(
    {"by_numpy": by_numpy, "by_dpnp": by_dpnp, "there_and_back": there_and_back},
    reference="by_numpy",
    metric="wall",
    queue=session,
    setup=make_arrays,
    budget_s=SECONDS,
)
print(compared)
