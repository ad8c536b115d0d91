"""The harness as a variant sees it, and the times of every command that the variant submits."""

__all__ = ["device_memory", "recorder", "session", "session_kernels", "spread", "switches", "transcript"]
