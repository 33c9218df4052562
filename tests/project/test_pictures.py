"""The pictures of README.md and of a guide are what symbcast draws today, on light pages and on dark ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

import pictures

ROOT = Path(__file__).parents[2]
SHOWN = [(name, page) for name in pictures.PICTURES for page in pictures.PAGES]


def documents():
    """Return the documents that show pictures."""
    return "".join((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/guides/free.md"))


@pytest.mark.parametrize(("name", "page"), SHOWN)
def test_a_picture_is_what_is_drawn_today(name, page):
    content, words, colours = pictures.kept(name, page)
    _, today = pictures.made(name, page)
    assert content == today, "make the pictures again: PYTHONPATH=tests:tests/support python -m pictures"
    # The content is that of the drawing it stands in, not of another one.
    assert Counter(words) == Counter(content["words"])
    seen = {cell[:7] for mesh in content["cells"] for cell in mesh if not cell.endswith("00")}
    assert seen | {region["colour"] for region in content["regions"]} <= colours


@pytest.mark.parametrize(("name", "page"), SHOWN)
def test_a_picture_shows_sizes_that_work_and_sizes_that_fail(name, page):
    content, _, _ = pictures.kept(name, page)
    assert any(not cell.endswith("00") for cell in content["cells"][0])
    assert content["regions"]


@pytest.mark.parametrize("page", pictures.PAGES)
def test_the_picture_of_a_terminal_is_what_is_printed_today(page):
    _, today = pictures.terminal(page)
    kept = pictures.path(pictures.TERMINAL, page).read_text("utf-8")
    assert [line.split() for line in pictures.lines_in(kept) if line.strip()] == [
        line.split() for line in today if line.strip()
    ]


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_those_who_do_not_see_a_picture_are_told_what_is_in_it(name):
    descriptions = {pictures.kept(name, page)[0]["description"] for page in pictures.PAGES}
    assert len(descriptions) == 1
    description, text = descriptions.pop(), documents()
    assert f'alt="{description}"' in text or f":alt: {description}\n" in text


def test_every_picture_is_shown_and_small():
    text = documents()
    terminals = {pictures.path(pictures.TERMINAL, page) for page in pictures.PAGES}
    files = {pictures.path(name, page) for name, page in SHOWN} | terminals
    assert set(pictures.FOLDER.iterdir()) == files
    for file in files:
        assert f"notebooks/pictures/{file.name}" in text
        assert file.stat().st_size < 50_000
