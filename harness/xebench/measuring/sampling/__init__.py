"""Which variant is sampled next, in what batches, and when that is enough. No process and no device in here."""
