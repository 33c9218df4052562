"""The pictures of README.md are what symbcast draws today, on light pages and on dark ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

import pictures

SHOWN = [(name, page) for name in pictures.PICTURES for page in pictures.PAGES]


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


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_those_who_do_not_see_a_picture_are_told_what_is_in_it(name):
    descriptions = {pictures.kept(name, page)[0]["description"] for page in pictures.PAGES}
    assert len(descriptions) == 1
    assert f'alt="{descriptions.pop()}"' in (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def test_every_picture_is_shown_and_small():
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    files = {pictures.path(name, page) for name, page in SHOWN}
    assert set(pictures.FOLDER.iterdir()) == files
    for file in files:
        assert f"notebooks/pictures/{file.name}" in readme
        assert file.stat().st_size < 50_000
