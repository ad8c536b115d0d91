"""A child process: how it is started and asked, what it is doing, how it ended. It ends with its parent."""
