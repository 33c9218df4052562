"""Show answers visually and interactively: plots of where a broadcast works, and sliders with instant results.

    plot(result, "N", "M", range(17))   a grid of sizes: where it works, the output, and who is to blame elsewhere
    plots(result, "N", "M", each=...)   the same for several sizes of another symbol, side by side
    survey(result, "N", "M", range(17)) what the plots show, as data
    explore(...)                        a widget in which rule, shapes and sizes can be changed

Plots need matplotlib and the widget needs anywidget (both in the extra ``notebook``); each is imported when it is first
used. Surveys need neither.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbcast.notebook.explorer import Explorer, explore
    from symbcast.notebook.figures import plot, plots
    from symbcast.notebook.surveys import Survey, survey

_LAZY = {
    "Explorer": "explorer",
    "Survey": "surveys",
    "explore": "explorer",
    "plot": "figures",
    "plots": "figures",
    "survey": "surveys",
}

__all__ = ["Explorer", "Survey", "explore", "plot", "plots", "survey"]


if not TYPE_CHECKING:  # lets type checkers see the names above and reject others

    def __getattr__(name: str) -> object:
        module = _LAZY.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
