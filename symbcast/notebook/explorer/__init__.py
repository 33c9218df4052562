"""Provide the explorer: type shapes, and see at once whether they broadcast, and if not, why."""

from typing import TYPE_CHECKING

from symbcast.notebook.explorer.fields import explore, explorer_class

if TYPE_CHECKING:
    from symbcast.notebook.explorer.widget import Explorer

__all__ = ["Explorer", "explore"]


if not TYPE_CHECKING:  # lets type checkers see the names above and reject others

    def __getattr__(name: str) -> object:
        if name != "Explorer":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return explorer_class()
