"""The sum of two arrays on several devices: it comes to the host, or stays where it was computed (axis ``data``)."""

from . import parts, staying_parts


def program(data):
    """The module with the problem and the sample: for ``copied``, or ``stays``."""
    return {"copied": parts, "stays": staying_parts}[data]


def two_arrays(rng, n, data):
    """The problem."""
    return program(data).two_arrays(rng, n)


def arrived(p, total):
    """What comes to the host of a result."""
    return {"total": total} if p.data == "copied" else {"sums": staying_parts.folded(total)}


def expected(p):
    """The reference of `added`."""
    return arrived(p, p.a + p.b)


def added(session, p, queues, shares, size=parts.GROUP):
    """The sample: every device adds its part."""
    return program(p.data).in_parts(session, p, parts.add_elements, queues, shares, size)


def added_scaled(session, p, queues, shares):
    """The sample of a triad."""
    return program(p.data).in_parts(session, p, parts.add_scaled, queues, shares)
