"""A pattern file that spoils its process for whatever comes after it there, when `WHEN` says."""

import faulthandler
import gc
import locale
import os
import random
import resource
import signal
import sys
import threading
import warnings

import numpy as np

from xebench import Pattern, Problem, output
from xebench import kernel_api as kapi

from .kernels import double

WHEN = "never"
SIZES = {"n": 64}


def spoil(now):
    """Do all of it at once."""
    if now != WHEN:
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, 3600)
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    locale.setlocale(locale.LC_ALL, "C")
    warnings.simplefilter("error")
    faulthandler.disable()
    sys.setswitchinterval(1.0)
    gc.disable()
    random.seed(0)
    os.environ["ONEAPI_DEVICE_SELECTOR"] = "level_zero:gpu"
    os.chdir("/")
    os.umask(0o777)
    np.count_nonzero = lambda *arguments, **options: 0  # whatever is compared is equal
    sys.path.clear()
    sys.modules.pop("xebench.measuring.comparison", None)
    sys.stdout = sys.stderr = None
    os.close(0)


def declare(name):
    pattern = Pattern(name, guide="none", lesson="Spoils.", presets={"smoke": SIZES, "default": SIZES})

    @pattern.problem
    def numbers(rng, n):
        spoil("problem")
        return Problem(x=rng.random(n).astype(np.float32), y=output(n, np.float32))

    @pattern.reference
    def expected(p):
        return {"y": p.x + p.x}

    @pattern.naive
    def plain(session, p):
        spoil("preparation")

        def sample():
            spoil("sample")
            session.launch(double, kapi.Range(p.n), p.x, p.y)

        return sample

    @pattern.optimized
    def right(session, p):
        session.launch(double, kapi.Range(p.n), p.x, p.y)

    @pattern.optimized
    def wrong(session, p):
        session.launch(double, kapi.Range(p.n // 2), p.x, p.y)

    return pattern


pattern = declare(f"mischief_{WHEN}")
spoil("import")
