"""The patterns of the guide: one folder a family, one module a pattern. The harness finds them by their files."""
