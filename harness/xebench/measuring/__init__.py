"""One family measured: its problem, its variants checked and sampled, its rows; in this process or in others."""
