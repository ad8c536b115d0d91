"""What a device can reach: bandwidths, rates and latencies, measured by probes that check their results."""
