"""What a variant sees of the harness, and the times of every command that it submits."""
