"""Property tests here have no deadline: what they check does not depend on the machine's speed."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
