"""Child processes: how they start, answer, report what they do, and end. They end with their parent."""

__all__ = ["channel", "lifetime", "process", "programs", "worker"]
