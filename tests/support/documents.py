"""The documents of the repository, taken apart: prose, links, headings, and what stands in fences."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
READMES = [ROOT / "README.md", *sorted(p for top in ("symbcast", "tests") for p in (ROOT / top).rglob("README.md"))]
PAGES = [p for p in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "generated"} & {*p.parts}]
"""The pages of the site that are written by hand."""

DOCUMENTS = [READMES[0], ROOT / "CONTRIBUTING.md", *READMES[1:], *PAGES]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """What stands in a fence, and the language that is written beside it."""

    document: Path
    language: str
    text: str


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(document):
    """Return a document as Markdown: of a notebook, the cells that are."""
    if document.suffix != ".ipynb":
        return document.read_text("utf-8")
    cells = json.loads(document.read_text("utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def blocks(language, documents=DOCUMENTS):
    """Return what stands in the fences of a language."""
    return [Block(d, *found) for d in documents for found in FENCE.findall(text_of(d)) if found[0] == language]


def prose(document):
    """Return a document without what stands in fences."""
    return FENCE.sub("", text_of(document))


def links(document):
    """Return where links and pictures lead that stay in the repository."""
    text = re.sub(r"`[^`]*`", "", prose(document))
    found = [*re.findall(r"\]\(([^)\s]+)\)", text), *re.findall(r'\b(?:src|srcset|href)="([^"\s]+)"', text)]
    return [target for target in found if "://" not in target]


@cache
def anchors(document):
    """Return what links to the headings of a document end in on GitHub."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(document), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        found.add(next(s for n in range(99) if (s := f"{slug}-{n}" if n else slug) not in found))
    return found


def sentences(document):
    """Return the sentences of a document's prose; a cell of a table, and an item of a list, end one.

    The description of a picture is none: it is that of both pictures, for light pages and for dark ones.
    """
    without = re.sub(r"^:\w+: .*$", "", prose(document), flags=re.M)
    text = re.sub(r"^(\s*[-*|]|#+|\d+\.) ?", "\n\n", without, flags=re.M)
    for part in re.split(r"\n\s*\n", text):
        yield from re.split(r" \| ?|(?<=[.:?;]) ", " ".join(part.split()))
