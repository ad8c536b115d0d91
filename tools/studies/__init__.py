"""Studies of the instrument itself: programs that measure how well xebench measures."""
