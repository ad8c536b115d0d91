"""The subject of the noise study: programs that xebench and its peers can call."""

from __future__ import annotations

import random

import pytest

pytestmark = [pytest.mark.numba_dpex, pytest.mark.device]


def test_each_tool_can_measure_the_programs() -> None:
    from tools.studies.noise.known_pairs import repetition_pairs
    from tools.studies.noise.trials import LENGTHS, Subject
    from xebench.session.session import Session
    from xebench.system import runtime

    session = Session.on(runtime.select_device("cpu").device.device)
    subject = Subject(session)
    subject.measure_lengths(1, random.Random(1))
    assert len(subject.calibration().times) == len(LENGTHS)
    for program in subject.programs(next(iter(repetition_pairs(0, 1)))):
        assert subject.wall_ns(program) > 0
        alone = subject.alone(program)
        for _ in range(3):
            alone()
        session.wait()
        assert session.measure(program).executions[0], "measured again after other tools"
