"""Which files of symbcast a question runs through, in the order in which each is first entered."""

import sys
from pathlib import Path

import symbcast as sb

ROOT = Path(sb.__file__).parent


def files_of(question) -> list[str]:
    """Return the files whose functions run while a question is asked: all is loaded, and its names are new."""
    question("A", "B")
    seen: dict[str, None] = {}

    def note(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and ROOT in path.parents:
            seen[path.relative_to(ROOT.parent).as_posix()] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        question("N", "M")
    finally:
        sys.setprofile(before)
    return list(seen)


def call(a, b):
    """One broadcast and its condition."""
    return sb.broadcast(f"{a}, 3", f"{b}, 1").condition
