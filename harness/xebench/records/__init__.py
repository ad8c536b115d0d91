"""Records that files declare and tables keep: claims, points, events, facts of a device. Nothing is computed here."""

__all__ = ["claim", "device_facts", "events", "points"]
