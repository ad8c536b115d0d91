"""How far xebench, pytest-benchmark, pyperf and a best-of-n loop can be believed: pairs whose true ratio is known.

``python -m tools.studies.noise`` measures and reports; docs/noise-study.md explains.
"""
