"""What runs on this machine, what does not, and what would mend it; and whether a device computes right."""
