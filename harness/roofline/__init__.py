"""What a device can reach: bandwidths, rates and latencies, measured in child processes and kept on disk."""
