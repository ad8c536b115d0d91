"""What lies under everything: the SYCL runtime and the machine, child processes, files on disk, facts of GPUs."""
