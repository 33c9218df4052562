"""Work for child processes."""

import time


def with_pauses(seconds):
    """Work for some processor seconds, one part in five of the time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pause = time.process_time() + 0.05
        while time.process_time() < pause:
            pass
        time.sleep(0.2)
    return "done"
