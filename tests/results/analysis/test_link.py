"""How fast copies cross between host and device, against the link's roofs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest
from synthetic import Synthetic

from xebench.results import frame
from xebench.results.analysis.metrics import link_of_samples, link_roofs

ROOFS: Mapping[str, float] = {
    "host_to_device": 10.0,
    "device_to_host": 5.0,
    "pageable_to_device": 8.0,
    "device_to_peer": 20.0,
}
Copy = tuple[int, int, int | None, str | None]


def with_copies(*copies: Copy, **device: object) -> Synthetic:
    """A sample with a kernel of 1000 ns and some copies: start, end, bytes and route."""
    made = Synthetic(**device)
    made.sample(made.case("v", "naive"), device_ns=1000.0)
    made.event((0, 1000), queue="q1")
    for start, end, size, route in copies:
        made.event((start, end), kind="copy")
        made.events[-1].update(bytes=size, route=route)
    return made


def found(*copies: Copy) -> pd.DataFrame:
    return link_of_samples(frame("events", with_copies(*copies).events), ROOFS)


@pytest.mark.parametrize(
    ("name", "copies", "gbps", "fraction"),
    [
        ("half as fast", [(0, 20, 100, "host_to_device")], 5, 0.5),
        ("one after the other", [(0, 20, 100, "host_to_device"), (50, 70, 100, "device_to_host")], 5, 0.75),
        ("to another device", [(0, 20, 100, "device_to_peer")], 5, 0.25),
        ("both directions at once", [(0, 20, 200, "host_to_device"), (0, 20, 100, "device_to_host")], 15, 2),
        (
            "copies on the device do not cross",
            [(0, 10, 100, "host_to_device"), (0, 500, 9, "device_to_device")],
            10,
            1,
        ),
    ],
)
def test_the_part_of_the_link(name: str, copies: list[Copy], gbps: float, fraction: float) -> None:
    (row,) = found(*copies).itertuples()
    assert (row.copy_gbps, row.link_fraction) == pytest.approx((gbps, fraction))


@pytest.mark.parametrize(
    ("why", "copies"),
    [
        ("no copy", []),
        ("drivers do not time pageable memory right", [(0, 20, 100, "pageable_to_device")]),
        ("one of several", [(0, 20, 100, "host_to_device"), (0, 20, 100, "device_to_pageable")]),
        ("a route without a roof", [(0, 20, 100, "shared_to_device")]),
        ("a copy past the session", [(0, 20, None, None)]),
        ("of no length", [(20, 20, 100, "host_to_device")]),
        ("on the device", [(0, 20, 100, "device_to_device")]),
    ],
)
def test_what_cannot_be_told_is_not_said(why: str, copies: list[Copy]) -> None:
    assert found(*copies).empty


def test_a_summary_tells_it() -> None:
    made = with_copies((0, 20, 100, "host_to_device"), link_roofs=json.dumps(ROOFS))
    row: Any
    (row,) = made.run().summaries.itertuples()
    assert (row.copy_gbps, row.link_fraction) == (5, 0.5)
    (row,) = with_copies((0, 20, 100, "host_to_device")).run().summaries.itertuples()
    assert pd.isna(row.copy_gbps) and pd.isna(row.link_fraction), "a run of an earlier version knows no such roof"


@pytest.mark.parametrize(
    ("copies", "fraction", "doubted"),
    [
        ([(0, 20, 4000, "host_to_device")], 20, True),
        ([(0, 20, 203, "host_to_device")], 1.015, False),
        ([(0, 20, 200, "host_to_device"), (0, 20, 100, "device_to_host")], 2, False),
        ([(0, 20, 210, "host_to_device"), (0, 20, 105, "device_to_host")], 2.1, True),
    ],
)
def test_a_copy_faster_than_its_roof_is_a_doubt_of_the_roof(copies: list[Copy], fraction: float, doubted: bool) -> None:
    row: Any
    (row,) = with_copies(*copies, link_roofs=json.dumps(ROOFS)).run().summaries.itertuples()
    assert row.link_fraction == pytest.approx(fraction)
    assert pd.notna(row.link_note) == doubted


def test_a_route_that_the_device_lacks_has_no_roof() -> None:
    assert link_roofs('{"host_to_device": null, "device_to_host": 5.0}') == {"device_to_host": 5.0}
    assert link_roofs(None) == {}
