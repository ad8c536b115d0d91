"""The plan of sampling: the next variant, the size of batches, and when to stop. No process and no device in here."""

__all__ = ["limits", "stopping"]
