"""The page of coverage says what the patterns say, and every lesson is answered in a way that is true."""

from __future__ import annotations

from dataclasses import fields

import click
import msgspec

from tools.pages.declared import CANNOT_BE_SAID, NOT_YET, RECORDED, coverage, kind_of, patterns_by_entry
from xebench.cli.main import commands
from xebench.patterns.declaration import entries
from xebench.patterns.registry import discover
from xebench.results import schema
from xebench.system.runtime.machine import Machine

INFOS = discover()
PATTERNS = patterns_by_entry(INFOS)


def test_every_entry_that_a_pattern_names_is_in_the_catalogue() -> None:
    known = {entry.id for entry in entries()}
    for info in INFOS:
        assert set(info.catalogue) <= known, info.name
        of_guide = any(not claim.is_ours for variant in info.variants for claim in variant.claims)
        assert info.catalogue or not of_guide, f"{info.name} names no entry of the catalogue"


def test_every_lesson_is_answered() -> None:
    missing = [entry.id for entry in entries() if kind_of(entry, PATTERNS) == NOT_YET]
    assert not missing, f"write a pattern for {', '.join(missing)}, or say in catalogue.csv why there is none"


def test_what_is_recorded_is_a_column_or_a_command() -> None:
    recorded = [entry for entry in entries() if entry.kind == RECORDED]
    assert recorded
    for entry in recorded:
        for name in entry.detail.split(", "):
            command = name.removeprefix("xebench ")
            if command != name:
                assert commands.get_command(click.Context(commands), command), entry.id
            elif name.startswith("manifest.machine."):
                assert name.rpartition(".")[2] in {field.name for field in fields(Machine)}, entry.id
            else:
                table, column = name.split(".")
                assert column in schema.columns(table, measured=True), entry.id


def test_what_cannot_be_said_has_a_reason_and_a_stand_in() -> None:
    for entry in entries():
        assert entry.kind in ("", RECORDED, CANNOT_BE_SAID), entry.id
        assert bool(entry.detail) == bool(entry.kind), entry.id
        assert bool(entry.stand_in) == (entry.kind == CANNOT_BE_SAID), entry.id


def test_what_a_pattern_answers_has_no_other_kind_in_the_catalogue() -> None:
    stale = [entry.id for entry in entries() if entry.kind and entry.id in PATTERNS]
    assert not stale, f"take kind, detail and stand_in of {', '.join(stale)} out of catalogue.csv"


def test_a_pattern_that_names_a_lesson_covers_it_in_all_chapters() -> None:
    info = msgspec.structs.replace(INFOS[0], name="latencies", catalogue=("E81",))
    twin = msgspec.structs.replace(info, name="levels", catalogue=("memory_latency_levels",))
    names = ["latencies", "levels"]
    assert patterns_by_entry([info, twin]) == {"E81": names, "memory_latency_levels": names}
    page = coverage([info, twin])
    assert page.count(" | pattern | `latencies`, `levels` |") == 2
    assert "| E01 | amdahl_bound | Getting Started / Amdahl's Law | not yet |  |" in page


def test_the_catalogue_names_each_lesson_once() -> None:
    ids = [entry.id for entry in entries()]
    assert len(ids) == len(set(ids)) >= 155
    heads = {entry.id: entry for entry in entries() if not entry.same_as}
    for entry in entries():
        assert entry.program in ("kernel", "host"), entry.id
        assert heads[entry.lesson].program == entry.program, entry.id
