"""Pictures of models as a person uses them: a page opened from a file, with mouse and keyboard, wide and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from notebook_pages import ROOT, Lab, keep, page_of

import symbcast as sb

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

onnx = pytest.importorskip("onnx")

DETECTOR = ROOT / "tests/data/onnx/models/ppocr_v4_det.onnx.gz"
HOSTILE = """<ir_version: 9, opset_import: ["" : 18]> g (float[N] x, float[M] w) => (float[P] y) {
    a = Relu(x) b = Relu(a) y = Add(b, w) }"""


@contextmanager
def opened(browser: Browser, path: Path, **options: Any) -> Iterator[Page]:
    context = browser.new_context(**options)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    yield page
    assert faults == []
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (420, "dark")])
def test_unfold_walk_find(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    sb.onnx.check(DETECTOR, runtime="onnxruntime").plot().save(tmp_path / "model.html")
    size = {"width": width, "height": 900}
    with opened(browser, tmp_path / "model.html", viewport=size, color_scheme=scheme) as page:
        keep(page, f"picture-{width}-{scheme}")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        chosen = page.locator(".chosen")
        assert "requires [1] [2]" in (chosen.get_attribute("aria-label") or "")
        assert "pad H (x axis 2) to a multiple of 32" in page.locator(".details").inner_text()

        page.get_by_role("button", name="Fold all").click()
        assert page.locator("[data-item]").count() == 16
        block = page.get_by_role("button", name="p2o.Mul.158 … p2o.Add.252")
        block.focus()
        page.keyboard.press("Enter")
        assert page.locator(":focus").get_attribute("aria-expanded") == "true"
        assert page.locator("[data-item]").count() == 40
        page.keyboard.press("ArrowDown")
        assert page.locator(":focus").get_attribute("class").split()[:2] == ["item", "node"]
        page.keyboard.press("Escape")
        assert page.locator(":focus").get_attribute("aria-expanded") == "false"

        page.get_by_label("find a node").fill("p2o.Resize.2")
        page.keyboard.press("Enter")
        assert "nearest_interp_v2_2.tmp_0  (N, 96, 8*((H + 31)//32)" in page.locator(".details").inner_text()
        page.locator(".findings button").last.click()
        assert "p2o.Add.252" in (page.locator(":focus").get_attribute("aria-label") or "")


def test_hostile_names_are_shown_and_not_run(browser: Browser, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HOSTILE)
    for number, node in enumerate(model.graph.node):
        node.name = f"<img src=x onerror=alert(1)>/<script>alert({number})<b>"
    sb.onnx.check(model).plot().save(tmp_path / "model.html")
    with opened(browser, tmp_path / "model.html") as page:
        assert page.locator("svg text", has_text="<script>alert(2)<b>").count() == 1
        assert page.locator("svg img, .side img, .side script").count() == 0


LONG = "backbone_stages_0_blocks_0_attention_query_key_value_Reshape_7_of_the_first_branch"
OUTSIDE = """[...document.querySelectorAll(".view .node")].filter((node) => {
    const box = node.querySelector(".body").getBoundingClientRect();
    return [...node.querySelectorAll("text")].some((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return left < box.left || right > box.right || top < box.top || bottom > box.bottom;
    });
}).length"""


def test_long_labels_are_broken_and_not_cut(browser: Browser, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        HOSTILE.replace("N]", "a_long_name_of_a_size_for_rows]").replace("M]", "N, a_size]")
    )
    model.graph.node[1].name = LONG
    sb.onnx.check(model).plot().save(tmp_path / "model.html")
    with opened(browser, tmp_path / "model.html") as page:
        texts = page.locator(".node", has_text="Reshape_7").locator("text").all_text_contents()
        assert "".join(texts[1:]) == LONG and len(texts) == 4, texts
        assert page.evaluate(OUTSIDE) == 0
        assert "…" not in "".join(page.locator(".view text").all_text_contents())


def test_a_notebook_shows_it_in_its_own_colours(browser: Browser, lab: Lab) -> None:
    source = f"import symbcast as sb\nsb.onnx.check({str(DETECTOR)!r}).plot()"
    with page_of(browser, lab.write("picture.ipynb", source), "Dark") as page:
        frame = page.frame_locator("iframe[title='the graph of the model']")
        frame.locator("html[data-ready]").wait_for(timeout=60_000)
        assert frame.locator("html").get_attribute("data-theme") == "dark"
        assert frame.locator(".blamed").count() >= 1
        keep(page, "picture-notebook")
