"""What every format says, each in its own way."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd
import pytest
from changed_run import changed

from xebench.report import formats
from xebench.report.run_summary import answer_sentences, headline
from xebench.results import Run

#: How each format gives its whole content.
WHOLE = [("text", {"verbose": True, "encoding": "utf-8"}), ("markdown", {}), ("html", {})]


def words_of(run: Run, form: str, options: dict[str, object]) -> str:
    """In one line, so that it does not matter where lines end."""
    return " ".join(formats.render(run, form, **options).split())


#: Arrays of values: what has none is not in them.
VALUES = {"github-action-benchmark", "github-action-speedups"}


@pytest.mark.parametrize("form", sorted({*formats.names()} - VALUES))
def test_every_format_names_every_variant(run: Run, form: str) -> None:
    text = formats.render(run, form)
    for word in ("convolution", "cached", "histogram", "broken"):
        assert word in text, (form, word)


@pytest.mark.parametrize(("form", "options"), WHOLE)
def test_formats_human_readable_begin_with_the_same_sentences(
    all_answers: Run, form: str, options: dict[str, object]
) -> None:
    page = words_of(all_answers, form, options).replace("&#39;", "'")
    first, second = (
        " ".join(sentence.split()) for sentence in (answer_sentences(all_answers)[0], headline(all_answers))
    )
    assert 0 <= page.index(first) < page.index(second) < page.index("sub_groups")


@pytest.mark.parametrize(("form", "options"), WHOLE)
def test_formats_human_readable_say_who_claims_what_of_whom(
    all_answers: Run, form: str, options: dict[str, object]
) -> None:
    page = words_of(all_answers, form, options)
    for words in ("2.9x on Max 1550 (G 4530)", "✓", "✗", "all_in_one_kernel", "GPUs", "95 %"):
        assert words in page


@pytest.mark.parametrize("form", ["csv", "json"])
def test_formats_machine_readable_have_the_columns_of_answers(all_answers: Run, form: str) -> None:
    text = formats.render(all_answers, form)
    for column in ("answer", "claim", "claimed_for", "strength", "guide_source", "guide_speedup", "guide_device"):
        assert column in text
    assert '"G 4530"' in text or ",G 4530," in text


def test_json_is_json(run: Run) -> None:
    data = json.loads(formats.render(run, "json"))
    assert data["state"] == "complete"
    (pair,) = [pair for pair in data["pairs"] if pair["variant"] == "cached"]
    assert pair["speedup"] == pytest.approx(2, rel=0.01)
    assert (pair["answer"], pair["strength"], pair["baseline"]) == ("holds", "stated", "plain")


@pytest.mark.parametrize(("form", "options"), WHOLE)
def test_intervals_of_one_instance_say_what_they_lack(run: Run, form: str, options: dict[str, object]) -> None:
    assert "of one instance" not in words_of(run, form, options)
    pairs = run.pairs.assign(instances=1)
    assert "the intervals are of one instance" in words_of(changed(run, pairs=pairs), form, options)


@pytest.mark.parametrize(("form", "options"), WHOLE)
def test_a_fraction_above_its_roof_has_a_star_and_its_word(run: Run, form: str, options: dict[str, object]) -> None:
    assert "%*" not in words_of(run, form, options)
    note = "faster than the measured roof: memory bandwidth was measured too low"
    above: dict[str, Any] = {"roof_fraction": 1.31, "roof_note": note}
    fast = changed(run, summaries=run.summaries.assign(**above), pairs=run.pairs.assign(roof_fraction=1.31))
    page = words_of(fast, form, options)
    assert ">100 %*" in page.replace("&gt;", ">") and "131 %" not in page
    assert f"* above 100 %: {len(run.summaries)} {note}" in page
    near = changed(run, summaries=run.summaries.assign(roof_fraction=1.01), pairs=run.pairs.assign(roof_fraction=1.01))
    assert "101 %" in words_of(near, form, options) and "* above" not in words_of(near, form, options)
    # runs of earlier versions know of no level but the memory
    unknown: Any = pd.NA
    old = changed(fast, summaries=fast.summaries.assign(roof_note=unknown))
    assert "its data came from a cache" in words_of(old, form, options)


@pytest.mark.parametrize(("form", "options"), WHOLE)
def test_roofs_that_were_disturbed_are_told(run: Run, form: str, options: dict[str, object]) -> None:
    assert "busy machine" not in words_of(run, form, options)
    busy = changed(run, devices=run.devices.assign(roofs_disturbed="bandwidth, fp32"))
    assert "measured on a busy machine and may be too low: bandwidth, fp32" in words_of(busy, form, options)


@pytest.mark.parametrize("form", formats.names())
def test_words_of_earlier_versions_are_gone(all_answers: Run, form: str) -> None:
    text = re.sub("<script.*?</script>", "", formats.render(all_answers, form), flags=re.DOTALL)
    assert not [
        word for word in ("verdict", "confirmed", "refuted", "not applicable", "not-applicable") if word in text
    ]
