"""The explorer: type shapes, see at once when they broadcast, and why not where they do not."""

from typing import TYPE_CHECKING

from symbcast.notebook.explorer.fields import explore, explorer_class

if TYPE_CHECKING:
    from symbcast.notebook.explorer.widget import Explorer

__all__ = ["Explorer", "explore"]


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others

    def __getattr__(name: str) -> object:
        if name != "Explorer":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return explorer_class()
