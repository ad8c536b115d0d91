"""What a worker shows of itself, and garbage in its place."""

from __future__ import annotations

import os

import pytest

from xebench.system.children.worker import ActivityPage

NAMES = [f"v{number}" for number in range(1000)]


def test_a_page_shows_across_its_descriptor() -> None:
    ours = ActivityPage.create()
    theirs = ActivityPage(os.dup(ours.descriptor))
    theirs.show(3, "check")
    assert ours.read(NAMES) == ("v3", "check")
    theirs.show(None, "reference")
    assert ours.read(NAMES) == (None, "reference")
    theirs.show(999, "sample")
    assert ours.read(NAMES) == ("v999", "sample"), "more than a byte can count"
    theirs.close()
    ours.close()


@pytest.mark.parametrize(
    "garbage", [b"\xff" * 64, b"\0" * 64, b"12345678\xfe{]", b"garbage of a pattern that writes everywhere"]
)
def test_garbage_is_an_unknown_stage(garbage: bytes) -> None:
    page = ActivityPage.create()
    os.pwrite(page.descriptor, garbage, 0)
    assert page.read(NAMES) == (None, "unknown stage")
    page.close()


def test_a_number_of_nothing_is_nobody() -> None:
    page = ActivityPage.create()
    for number in (len(NAMES), -7):
        page.show(number, "check")
        assert page.read(NAMES) == (None, "check")
    page.close()
