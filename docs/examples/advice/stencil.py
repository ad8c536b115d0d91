import xebench  # isort: skip  (first on the pinned stack)
import dpnp
import numpy as np

from xebench import kernel
from xebench import kernel_api as kapi


@kernel
def jacobi(item: kapi.Item, u, out):
    i, j = item.get_id(0), item.get_id(1)
    n = u.shape[0]
    if 0 < i < n - 1 and 0 < j < n - 1:
        out[i, j] = (u[i, j - 1] + u[i, j + 1] + u[i - 1, j] + u[i + 1, j]) * np.float32(0.25)


session = xebench.open_session()
n = 2048
u = dpnp.ones((n, n), dtype="float32", sycl_queue=session.queue)
out = dpnp.zeros_like(u)


def step():
    session.launch(jacobi, kapi.Range(n, n), u, out)


if __name__ == "__main__":
    print(xebench.advise(step, queue=session))
