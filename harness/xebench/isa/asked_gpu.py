"""The limits of the GPU that code is made for, by which variants size their launches while no such device is here."""

from __future__ import annotations

from collections.abc import Sequence

from xebench.measuring.messages import Message
from xebench.system.gpus import GpuParameters, find_gpu


class AskedGpu(Message, frozen=True, kw_only=True):
    """The facts of a GPU that a session and its device tell a variant; their names are the same there.

    Attributes:
        lanes: work-items that fill the GPU.
        cores: number of its Xe-cores.
        threads_per_core: hardware threads of an Xe-core.
        max_compute_units: number of its vector engines, as drivers count.
        sub_group_sizes: sub-group sizes that it offers, ascending.
        max_work_group_size: size of its largest work-group.
        local_mem_size: bytes of SLM that a work-group can have.
    """

    lanes: int
    cores: int
    threads_per_core: int
    max_compute_units: int
    sub_group_sizes: tuple[int, ...]
    max_work_group_size: int
    local_mem_size: int


def asked_gpu(gpus: Sequence[GpuParameters]) -> AskedGpu:
    """The limits of all of the GPUs: the smallest of each, and the sub-group sizes that all offer.

    Args:
        gpus: GPUs of the catalogue, or a user's own; if there are none, the guide's, a Max.
    """
    gpus = gpus or [find_gpu("pvc")]
    shared = set.intersection(*(set(gpu.sub_group_sizes) for gpu in gpus))
    return AskedGpu(
        lanes=min(gpu.threads * max(gpu.sub_group_sizes) for gpu in gpus),
        cores=min(gpu.xe_cores for gpu in gpus),
        threads_per_core=min(gpu.threads_per_xe_core for gpu in gpus),
        max_compute_units=min(gpu.eu_count for gpu in gpus),
        sub_group_sizes=tuple(sorted(shared)),
        max_work_group_size=min(gpu.max_work_group_size for gpu in gpus),
        local_mem_size=int(min(gpu.max_slm_per_work_group_bytes for gpu in gpus)),
    )
