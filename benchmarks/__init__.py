"""The patterns of the guide: one folder a chapter, one module a pattern. The harness finds them by their files."""
