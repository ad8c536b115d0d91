"""Examination of this machine: what runs, what does not, how to mend it, and if a device computes right."""
