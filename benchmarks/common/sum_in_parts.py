"""The sum of two arrays on several devices: it comes to the host, or stays where it was computed (axis ``data``)."""

from . import parts, staying_parts


def two_arrays(rng, n, data):
    """The problem."""
    return parts.two_arrays(rng, n) if data == "copied" else staying_parts.two_arrays(rng, n)


def arrived(p, total):
    """What comes to the host of a result."""
    return {"total": total} if p.data == "copied" else {"sums": staying_parts.folded(total)}


def expected(p):
    """The reference of `added`."""
    return arrived(p, p.a + p.b)


def in_parts(session, p, stream, queues, shares, size):
    """The sample: every device computes its part."""
    if p.data == "copied":
        return parts.in_parts(session, p, stream, queues, shares, size)
    return staying_parts.in_parts(session, p, stream, queues, shares, size)


def added(session, p, queues, shares, size=parts.GROUP):
    """The sample of an addition."""
    return in_parts(session, p, parts.add_elements, queues, shares, size)


def added_scaled(session, p, queues, shares):
    """The sample of a triad."""
    return in_parts(session, p, parts.add_scaled, queues, shares, parts.GROUP)
