"""Child processes: how they start, answer, report what they do, and end. They end with their parent."""
