"""The documentation site: every public name has its place, every link leads to a page, and search finds other names."""

from __future__ import annotations

import html.parser
import json
import re
import subprocess
import sys
from urllib.parse import unquote

import pytest
from documents import ROOT

import symbcast as sb

pytest.importorskip("sphinx")
pytest.importorskip("myst_nb")
pytest.importorskip("furo")
pytest.importorskip("sphinx_copybutton")
pytest.importorskip("sphinx_design")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the built site. Its sources are copied: parallel tests do not share generated pages."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-b",
        "html",
        "-d",
        folder / "trees",
        "docs",
        folder / "html",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


class Links(html.parser.HTMLParser):
    """The targets of a page's links, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.add(given.get("id"))
        if tag in ("a", "img"):
            self.targets.append(given.get("href") or given.get("src") or "")


def test_every_link_leads_to_a_page_and_a_place(site):
    pages = {page.relative_to(site): Links(page.read_text("utf-8")) for page in site.rglob("*.html")}
    assert len(pages) > 60
    for page, links in pages.items():
        for target in links.targets:
            if re.match(r"[a-z]+:", target) or not target:
                continue
            path, _, anchor = unquote(target).partition("#")
            found = (site / page.parent / path).resolve() if path else site / page
            assert found.exists(), (page, target)
            if anchor and found.suffix == ".html":
                assert anchor in pages[found.relative_to(site)].anchors, (page, target)


def test_the_reference_has_every_public_name(site):
    documented = Links("".join(p.read_text("utf-8") for p in (site / "generated/reference").glob("*.html"))).anchors
    names = {f"symbcast.{name}" for name in sb.__all__ if name not in ("__version__", "adapters", "notebook")}
    for kind in ("Result", "ShapeEnv", "Condition", "Shape", "Solution"):
        names |= {f"symbcast.{kind}.{n}" for n in vars(getattr(sb, kind)) if not n.startswith("_")}
    assert {
        name for name in names if name not in documented and not _is_documented_elsewhere(name, documented)
    } == set()


def test_the_reference_has_the_classes_that_functions_return(site):
    page = (site / "generated/reference/returned.html").read_text("utf-8")
    members = {anchor.split(".")[-1] for anchor in Links(page).anchors if anchor}
    assert {"TraceReport", "explain", "LintReport", "counts", "BrokenPromise", "ModelPicture", "save"} <= members
    assert "Alias for field number" not in page


def _is_documented_elsewhere(name, documented):
    """Return whether an object is documented under the module that defines it, as sphinx does for aliases."""
    found = sb
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return f"{getattr(found, '__module__', '')}.{getattr(found, '__qualname__', '')}" in documented


@pytest.mark.parametrize("word", ["max_pool", "permute", "broadcast_shapes", "counterexample", "unanalysed", "pdpd"])
def test_search_finds_what_people_type(site, word):
    from sphinx.search.en import SearchEnglish

    index = (site / "searchindex.js").read_text("utf-8")
    found = json.loads(index[index.index("(") + 1 : index.rindex(")")])
    assert {word, SearchEnglish({}).stem(word)} & {*found["terms"], *found["titleterms"]}
