"""Define figures that keep a text description wherever they are displayed or saved."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

from symbcast.answers.show.html import element

_IMAGES = ("image/png", "image/svg+xml", "image/jpeg", "application/pdf")
_KEYS = {"png": "Description", "svg": "Title", "pdf": "Subject"}
"""Where a file of each format has room for a description."""


class Picture(Figure):
    """A figure with a ``description`` for people who cannot see it.

    In a notebook it is an HTML image with that alternative text, so that its transparent background shows the page:
    notebooks put a white background behind other transparent images. In a file the description is part of the metadata.
    """

    description: str = ""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save the figure, with its description if the format has a field for it."""
        form = str(options.get("format") or str(fname).rpartition(".")[2]).lower()
        if form in _KEYS and self.description:
            options["metadata"] = {_KEYS[form]: self.description, **(options.get("metadata") or {})}
        super().savefig(fname, **options)

    def as_png(self) -> bytes:
        """Return the figure as PNG data."""
        buffer = BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        shell = get_ipython()
        known = shell.display_formatter if shell is not None else None
        formatters = known.formatters if known is not None else {}
        bundle: dict[str, Any] = {"text/plain": self.description}
        metadata: dict[str, Any] = {}
        for kind in _IMAGES:
            made = formatters[kind](self) if kind in formatters else None
            if made is not None:
                bundle[kind], own = made if isinstance(made, tuple) else (made, {})
                metadata[kind] = {**own, "alt": self.description}
        if not metadata:
            bundle["image/png"] = b64encode(self.as_png()).decode()
            metadata["image/png"] = {"alt": self.description}
        kind = next(iter(metadata))
        bundle["text/html"] = image(bundle[kind], kind, self.description, metadata[kind].get("width"))
        display(bundle, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]


def image(data: str | bytes, kind: str, description: str, width: int | None = None) -> str:
    """Return an image as HTML with its alternative text; ``data`` is text, or already base64-encoded."""
    if kind == "image/svg+xml":
        data = b64encode(data if isinstance(data, bytes) else data.encode())
    text = data.decode() if isinstance(data, bytes) else data
    # Concatenate without escaping: the data are long, and base64 needs no escaping.
    given = {"alt": description, **({"width": str(width)} if width else {})}
    tag = element("img", "", "max-width:100%;height:auto", **given).removesuffix("></img>")
    return f'{tag} src="data:{kind};base64,{text.strip()}">'
