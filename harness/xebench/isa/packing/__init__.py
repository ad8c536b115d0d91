"""Makes a pack of the kernels that the current stack looks up (`xebench.dpex.shipped`): ``xebench pack``.

Nothing in here is needed to measure. Types of arguments and captured values decide which kernels there are, not how
large a problem is; so every variant runs in a session that compiles what it is to launch, and launches nothing. The
few kernels of the harness itself run as they do in a run.
"""

__all__ = ["making"]
