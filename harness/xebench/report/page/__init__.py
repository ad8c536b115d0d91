"""The parts of the HTML report: each module makes one part of the page from the tables, or charts."""

__all__ = ["code", "families", "figures", "pattern_view"]
