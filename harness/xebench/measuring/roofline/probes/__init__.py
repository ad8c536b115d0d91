"""The probes, one module a group.

Each module has a class ``Group``: made once for a device (``Group(bench)``), then asked for each of its probes by name
(``measure(name) -> Measurement``). It raises ``Unsupported`` for what the device lacks and ``WrongResult`` for what it
computes wrong. Every kernel's result is compared with what it must be, so that no compiler can have left its work out.
"""
