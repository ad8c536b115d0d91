"""What the machine was like, from made-up files of /proc and /sys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xebench.measuring.machine_monitor import (
    FLAGS,
    GPU_CLIENTS_S,
    REFERENCE_STATES,
    MachineMonitor,
    gpu_processes,
)
from xebench.vocabulary import REMEDIES

CPU = "sys/devices/system/cpu/cpu0"
GPU = "sys/class/drm/card0/gt/gt0"


class Machine:
    """Files under a root, and a clock."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = 100.0
        self.pressure_us = 5_000_000
        self.ticks = [1000, 0, 500, 8000, 0, 0, 0, 50, 0, 0]
        self.write("proc/loadavg", "1.25 1.00 0.90 2/88 28246\n")
        self.advance(0)

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def advance(self, seconds: float = 0.1, *, contended: float = 0.0, stolen: float = 0.0) -> None:
        """Time passes on two cores of 1000 ticks a second."""
        self.now += seconds
        self.pressure_us += int(contended * seconds * 1e6)
        whole = round(2 * 1000 * seconds)
        self.ticks[7] += round(whole * stolen)
        self.ticks[3] += whole - round(whole * stolen)
        self.write(
            "proc/pressure/cpu", f"some avg10=0.26 avg60=1.0 avg300=3.0 total={self.pressure_us}\nfull total=0\n"
        )
        self.write("proc/stat", f"cpu  {' '.join(map(str, self.ticks))}\ncpu0 1 2 3\nintr 5\n")

    def monitor(self, device_class: str = "cpu") -> MachineMonitor:
        return MachineMonitor(device_class, root=self.root, clock=lambda: self.now)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def settle(machine: Machine, monitor: MachineMonitor, **usual: float) -> None:
    for _ in range(REFERENCE_STATES):
        machine.advance(**usual)
        assert monitor.observe()[1] == (), "there is nothing yet to compare with"


def test_load_contention_and_theft_are_read_for_each_range(machine: Machine) -> None:
    monitor = machine.monitor()
    machine.advance(0.2, contended=0.25, stolen=0.1)
    state, _ = monitor.observe()
    assert state["load_average"] == 1.25
    assert state["contended"] == pytest.approx(0.25)
    assert state["stolen"] == pytest.approx(0.1)
    machine.advance(0.2)
    state, _ = monitor.observe()
    assert (state["contended"], state["stolen"]) == (0.0, 0.0)


def test_what_a_machine_does_not_tell_is_null(tmp_path: Path) -> None:
    monitor = MachineMonitor("gpu", root=tmp_path)
    for _ in range(REFERENCE_STATES + 2):
        state, changed = monitor.observe()
        assert changed == ()
    assert {name: value for name, value in state.items() if value is not None} == {"gpu_clients": 0}


def test_a_range_without_any_time_has_no_parts(machine: Machine) -> None:
    monitor = machine.monitor()
    state, _ = monitor.observe()
    assert state["contended"] is None and state["stolen"] is None


@pytest.mark.parametrize(("usual", "now"), [(0.0, 0.5), (0.6, 0.0)])
def test_other_load_than_at_the_beginning_is_another_state(machine: Machine, usual: float, now: float) -> None:
    monitor = machine.monitor()
    settle(machine, monitor, contended=usual)
    machine.advance(contended=usual + 0.1)
    assert monitor.observe()[1] == ()
    machine.advance(contended=now)
    assert monitor.observe()[1] == ("contended",)
    machine.advance(contended=usual, stolen=0.5)
    assert monitor.observe()[1] == ("stolen",)


def test_where_threads_waiting_is_counted_the_load_of_all_does_not_matter(machine: Machine) -> None:
    machine.write("proc/self/task/1/schedstat", "1 0 1\n")
    monitor, gpu_monitor = machine.monitor(), machine.monitor("gpu")
    settle(machine, monitor)
    machine.advance(contended=0.9)
    state, changed = monitor.observe()
    assert state["contended"] == pytest.approx(0.9) and changed == ()
    monitor.begin_sample()
    assert monitor.waited(on_device_clock=True) == 0.0
    gpu_monitor.begin_sample()
    assert gpu_monitor.waited(on_device_clock=True) is None, "a GPU's clock does not wait for its host"
    assert gpu_monitor.waited(on_device_clock=False) == 0.0


def test_a_clock_that_falls_is_another_state_of_a_cpu_device(machine: Machine) -> None:
    machine.write(f"{CPU}/cpufreq/scaling_cur_freq", "3000000\n")
    monitor, gpu_monitor = machine.monitor(), machine.monitor("gpu")
    settle(machine, monitor)
    for _ in range(REFERENCE_STATES):
        gpu_monitor.observe()
    machine.write(f"{CPU}/cpufreq/scaling_cur_freq", "2400000\n")
    state, changed = monitor.observe()
    assert (state["cpu_mhz"], changed) == (2400.0, ("cpu_mhz",))
    assert gpu_monitor.observe()[1] == (), "the host's clock is not the GPU's"


def test_throttling_is_another_state(machine: Machine) -> None:
    machine.write(f"{CPU}/thermal_throttle/core_throttle_count", "3\n")
    machine.write(f"{CPU}/thermal_throttle/package_throttle_count", "10\n")
    monitor = machine.monitor()
    settle(machine, monitor)
    state, changed = monitor.observe()
    assert (state["throttled"], changed) == (13, ())
    machine.write(f"{CPU}/thermal_throttle/package_throttle_count", "12\n")
    state, changed = monitor.observe()
    assert (state["throttled"], changed) == (15, ("throttled",))
    assert monitor.observe()[1] == (), "a CPU counts how often it was throttled: it is not any more"


def test_a_gpu_tells_its_clock_its_limit_and_its_throttling(machine: Machine) -> None:
    for name, value in (("rps_act_freq_mhz", 1550), ("rps_max_freq_mhz", 1600), ("throttle_reason_status", 0)):
        machine.write(f"{GPU}/{name}", f"{value}\n")
    monitor = machine.monitor("gpu")
    settle(machine, monitor)
    machine.write(f"{GPU}/rps_act_freq_mhz", "300\n")
    state, changed = monitor.observe()
    assert (state["gpu_mhz"], state["gpu_limit_mhz"], state["throttled"]) == (300.0, 1600.0, 0)
    assert changed == (), "a GPU that idles between samples has a low clock"
    machine.write(f"{GPU}/rps_max_freq_mhz", "900\n")
    machine.write(f"{GPU}/throttle_reason_status", "1\n")
    for _ in range(2):
        assert monitor.observe()[1] == ("gpu_limit_mhz", "throttled"), "a GPU tells whether it is throttled now"
    machine.write(f"{GPU}/throttle_reason_status", "0\n")
    assert monitor.observe()[1] == ("gpu_limit_mhz",)


def test_other_processes_on_the_gpu_are_counted_now_and_then(machine: Machine) -> None:
    for pid, content in ((os.getpid(), "drm-client-id:\t1\n"), (7, "drm-client-id:\t2\n"), (8, "pos:\t0\n")):
        machine.write(f"proc/{pid}/fdinfo/3", content)
    assert gpu_processes(machine.root) == {os.getpid(), 7}
    monitor = machine.monitor("gpu")
    settle(machine, monitor)
    assert monitor.observe()[0]["gpu_clients"] == 1
    machine.write("proc/9/fdinfo/5", "drm-client-id:\t3\n")
    assert monitor.observe()[0]["gpu_clients"] == 1, "looking takes milliseconds"
    machine.advance(GPU_CLIENTS_S)
    state, changed = monitor.observe()
    assert (state["gpu_clients"], changed) == (2, ("gpu_clients",))


def test_what_changed_has_a_flag_that_says_what_and_a_remedy(machine: Machine) -> None:
    assert {name: str(flag) for name, flag in FLAGS.items()} == {
        "contended": "contention",
        "stolen": "stolen time",
        "cpu_mhz": "clock",
        "gpu_limit_mhz": "clock",
        "throttled": "throttling",
        "gpu_clients": "shared device",
    }
    assert set(FLAGS.values()) <= set(REMEDIES)
    state, _ = machine.monitor().observe()
    assert set(FLAGS) < set(state)


def test_its_files_are_not_where_a_pattern_closes_standard_ones() -> None:
    program = """
import os
from xebench.measuring.machine_monitor import MachineMonitor
os.closerange(0, 3)
monitor = MachineMonitor("cpu")
os.closerange(0, 3)
state, _ = monitor.observe()
monitor.close()
os._exit(0 if state["load_average"] is not None else 9)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_closed_monitor_holds_no_file() -> None:
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))
    monitor = MachineMonitor("cpu")
    monitor.observe()
    monitor.close()
    assert len(list(descriptors.iterdir())) == before
