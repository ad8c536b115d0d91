"""Charts as SVG: each module draws one thing from plain numbers, without tables or pages."""

__all__ = ["execution", "samples", "speedups", "svg"]
