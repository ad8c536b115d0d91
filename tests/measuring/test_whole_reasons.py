"""An error's first line is the reason; its whole text stays in the run, and in the verbose report."""

from __future__ import annotations

from synthetic import Synthetic

from xebench.errors import Unsupported
from xebench.measuring.place import outcome
from xebench.report.remarks import failures
from xebench.vocabulary import Status


def test_the_rest_of_an_errors_text_is_kept() -> None:
    assert outcome("check", RuntimeError("gemm failed\nline 2")) == (
        Status.ERROR,
        "check: RuntimeError: gemm failed",
        "gemm failed\nline 2",
    )
    assert outcome("check", ValueError("one line")) == (Status.ERROR, "check: ValueError: one line", "")


def test_the_text_is_the_librarys_where_an_error_of_ours_stands_for_it() -> None:
    try:
        raise Unsupported("gemm does not run on this device: build failed") from RuntimeError("build failed\nlog")
    except Unsupported as error:
        assert outcome("check", error)[2] == "build failed\nlog"


def test_the_verbose_report_has_it() -> None:
    made = Synthetic()
    made.case("v", "optimized", status="error", reason="check: cut", error_text="cut\nwhole")
    assert [reason for _, _, reason in failures(made.run(), whole=True)] == ["cut\nwhole"]
    assert [reason for _, _, reason in failures(made.run())] == ["check: cut"]
