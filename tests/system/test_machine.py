"""Facts of the host, from made-up and from real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from xebench.system.runtime import machine


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_gpu_frequencies_of_both_kernel_drivers(tmp_path: Path) -> None:
    drm = tmp_path / "sys/class/drm"
    write(drm / "card0/gt/gt0/rps_RP0_freq_mhz", "1550\n")
    write(drm / "card0/gt/gt0/rps_min_freq_mhz", "300\n")
    write(drm / "card0/gt/gt1/rps_RP0_freq_mhz", "unreadable\n")
    write(drm / "card1/device/tile0/gt0/freq0/max_freq", "2400\n")
    assert machine.gpu_frequencies(tmp_path) == {
        "card0/gt0": {"RP0": 1550, "min": 300},
        "card1/tile0/gt0": {"max": 2400},
    }


def test_power_of_the_links_between_gpus(tmp_path: Path) -> None:
    drm = tmp_path / "sys/class/drm"
    write(drm / "card1/iaf_power_enable", "0\n")
    write(drm / "card0/iaf_power_enable", "1\n")
    write(drm / "card2/iaf_power_enable", "unreadable\n")
    assert machine.xe_link_power(tmp_path) == {"card0": True, "card1": False}
    assert machine.xe_link_power(tmp_path / "nowhere") == {}


def test_cpu_frequencies_and_governors(tmp_path: Path) -> None:
    cpu = tmp_path / "sys/devices/system/cpu"
    write(cpu / "cpu0/cpufreq/scaling_governor", "powersave\n")
    write(cpu / "cpu1/cpufreq/scaling_governor", "powersave\n")
    write(cpu / "cpu2/cpufreq/scaling_governor", "performance\n")
    write(cpu / "cpu0/cpufreq/scaling_max_freq", "3500000\n")
    assert machine.cpu_governors(tmp_path) == ("performance", "powersave")
    assert machine.cpu_frequencies(tmp_path) == {"max": 3500}


def test_a_host_that_says_nothing(tmp_path: Path) -> None:
    facts = machine.describe_machine(tmp_path)
    assert facts.cpu_governors == ()
    assert facts.cpu_mhz == {}
    assert facts.gpu_mhz == {}
    assert facts.xe_link_power == {}
    assert facts.operating_system


@pytest.mark.parametrize(
    ("file", "text", "environment", "hint"),
    [
        (".dockerenv", "", {}, "docker"),
        ("run/.containerenv", "", {}, "podman"),
        (".dockerenv", "", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2", {}, "wsl"),
        ("etc/os-release", "", {"container": "lxc"}, "lxc"),
        ("etc/os-release", "", {}, None),
    ],
)
def test_container_hints(tmp_path: Path, file: str, text: str, environment: dict[str, str], hint: str | None) -> None:
    write(tmp_path / file, text)
    assert machine.container_hint(tmp_path, environment) == hint


def test_names(tmp_path: Path) -> None:
    write(tmp_path / "etc/os-release", 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n')
    assert machine.operating_system(tmp_path) == "Debian GNU/Linux 12"
    assert machine.cpu_model("vendor_id : x\nmodel name\t: AMD EPYC\nmodel name\t: other\n") == "AMD EPYC"
    assert machine.cpu_model("") is None


def test_this_host() -> None:
    facts = machine.describe_machine()
    assert facts.cpu_model
    assert 1 <= facts.usable_cores <= facts.logical_cores
    assert 0 < facts.available_memory_bytes <= facts.memory_bytes
    assert len(facts.load_average) == 3
