"""Charts as SVG: each module draws one kind from plain numbers, without tables or pages."""

__all__ = ["distribution", "roofline", "samples", "speedups", "svg", "timeline"]
