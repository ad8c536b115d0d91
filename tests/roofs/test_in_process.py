"""From what a search measured to results."""

from __future__ import annotations

from typing import Any

from xebench.errors import TooLarge, Unsupported
from xebench.roofs.bench import measure_groups, result_of
from xebench.roofs.catalogue import find_probe
from xebench.roofs.search import Measurement, NoForm, Undetermined, WrongResult


def test_a_rate_is_amount_over_time_and_its_best_the_highest() -> None:
    result = result_of(find_probe("read"), Measurement({"work-group": 64}, 3e6, (2e6, 1e6, 4e6), ("form: no",)))
    assert (result.value, result.median, result.best_ns, result.samples) == (3.0, 1.5, 1e6, 3)
    assert result.status == "ok"
    assert result.form == {"work-group": 64}
    assert result.rejected == ("form: no",)


class Group:
    errors = {
        "stream_copy": Unsupported("the device has no such thing"),
        "fp64": TooLarge("the device could not allocate 8 bytes"),
        "int32": NoForm("sums: 3 of 4 elements are wrong"),
        "stream_triad": RuntimeError("driver said\nmany\nthings"),
        "write": WrongResult("overwritten"),
        "host_to_device": Undetermined("the halves differ"),
    }

    def measure(self, name: str) -> Measurement:
        if name in self.errors:
            raise self.errors[name]
        return Measurement({}, 10.0, (5.0,))


def test_each_end_of_a_probe_is_a_result_and_the_others_go_on() -> None:
    made: list[str] = []

    def make(group: str) -> Any:
        made.append(group)
        return Group()

    results = measure_groups(
        make, ["fp32", "write", "stream_triad", "int32", "fp64", "stream_copy", "read", "host_to_device"]
    )
    assert made == ["memory_probes.GlobalMemory", "core_probes.Arithmetic", "host_probes.Transfers"], (
        "each group is made once"
    )
    assert {result.probe: (result.status, result.reason) for result in results} == {
        "write": ("failed", "overwritten"),
        "host_to_device": ("undetermined", "the halves differ"),
        "stream_triad": ("failed", "RuntimeError: driver said"),
        "int32": ("failed", "sums: 3 of 4 elements are wrong"),
        "fp64": ("skipped", "the device could not allocate 8 bytes"),
        "stream_copy": ("skipped", "the device has no such thing"),
        "read": ("ok", None),
        "fp32": ("ok", None),
    }
