"""Show answers visually and interactively: plots of where a broadcast works, and sliders with instant results.

    plot(result, "N", "M", range(17))   a grid of sizes: where it works, the output, and who is to blame elsewhere
    plots(result, "N", "M", each=...)   the same for several sizes of another symbol, side by side
    survey(result, "N", "M", range(17)) what the plots show, as data
    explore(...)                        a widget in which rule, shapes and sizes can be changed

Plots need matplotlib and the widget needs anywidget (both in the extra ``notebook``); each is imported when it is first
used. Surveys need neither.
"""

from typing import TYPE_CHECKING

from symbcast.core.advice import lazy_names

if TYPE_CHECKING:
    from symbcast.notebook.explorer import Explorer, explore
    from symbcast.notebook.figures import plot, plots
    from symbcast.notebook.surveys import Outcome, Survey, survey

_LAZY = {
    "Explorer": "explorer",
    "Outcome": "surveys",
    "Survey": "surveys",
    "explore": "explorer",
    "plot": "figures",
    "plots": "figures",
    "survey": "surveys",
}

__all__ = ["Explorer", "Outcome", "Survey", "explore", "plot", "plots", "survey"]

if not TYPE_CHECKING:  # lets type checkers see the names above and reject others
    __getattr__ = lazy_names(
        __name__,
        {name: f"{__name__}.{module}" for name, module in _LAZY.items()},
        "show draw display figure picture heatmap image savefig -> plot(...)",
        "grid table data -> survey(...)",
        "interact slider sliders widget app explorer -> explore(...)",
    )


def __dir__() -> list[str]:
    return sorted(__all__)
