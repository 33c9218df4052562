"""What results show of themselves in JupyterLab: hostile names are inert, and words can be read on either theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from notebook_pages import Lab, keep, page_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

HOSTILE = """
import onnx
import symbcast as sb
from onnx import TensorProto, helper

bad = '<img src=x onerror="window.broken = 1"><script>window.broken = 1</script>'
size = sb.symbol(bad)
env = sb.ShapeEnv(assume=size >= 1)
env.broadcast((size, 3), "M, 1", origin=bad + "</td></table>")
value = helper.make_tensor_value_info
graph = helper.make_graph(
    [helper.make_node("Add", ["a", "b"], [bad], name=bad)],
    bad,
    [value("a", TensorProto.FLOAT, [bad, 3]), value("b", TensorProto.FLOAT, ["M", 1])],
    [value(bad, TensorProto.FLOAT, None)],
)
report = sb.onnx.check(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
result = sb.broadcast((size, 3), "M, 1", assume=size >= 1)
"""
SHOWN = ("result.shape", "sb.Condition(result)", "result", "env", "report", "result.condition")
AS_LATEX = "from IPython.display import Latex, display\n" + "\n".join(
    f"display(Latex({shown}._repr_latex_()))" for shown in SHOWN
)

KINDS = """
import onnx
import symbcast as sb
from IPython.display import display

model = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> '
    'halves (float[N, H, 3] x, float[N, M, 1] y) => (z) { h = MaxPool<kernel_shape = [2], strides = [2]>(x) '
    'z = Add(h, y) }'
)
display(sb.onnx.check(model))

display(sb.broadcast("batch, heads, T, T", "batch, 1, 1, S", assume="T >= 1"))
display(sb.broadcast("N, 3", "N, 1"))
display(sb.broadcast("N, 3", "M, 4"))
display(sb.broadcast("N", "3").shape, sb.Condition("N % 8 == 0 or N == 1"))
env = sb.ShapeEnv()
env.broadcast("batch, S, T", "T, 1", origin="add")
display(env)
"""


@pytest.fixture
def hostile(lab: Lab) -> str:
    return lab.write("hostile.ipynb", HOSTILE, *SHOWN, AS_LATEX)


def test_hostile_names_are_inert(browser: Browser, hostile: str) -> None:
    with page_of(browser, hostile) as page:
        page.on("dialog", lambda _: pytest.fail("a name ran as script"))
        outputs = page.locator(".jp-OutputArea-output")
        page.wait_for_function(
            f"() => document.querySelectorAll('mjx-container').length >= {len(SHOWN)}", timeout=60_000
        )
        # All but the sympy Boolean, which is set as mathematics, say the name as it is.
        for n in range(len(SHOWN) - 1):
            assert '<img src=x onerror="window.broken = 1">' in outputs.nth(n).inner_text(), SHOWN[n]
        assert page.locator(".jp-OutputArea-output img, .jp-OutputArea-output script").count() == 0
        assert page.evaluate("() => window.broken") is None
        keep(page, "hostile")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_every_word_can_be_read(browser: Browser, lab: Lab, theme: str) -> None:
    with page_of(browser, lab.write(f"kinds-{theme}.ipynb", KINDS), theme) as page:
        page.wait_for_selector(".jp-OutputArea-output >> text=needed by")
        contrasts = page.evaluate(CONTRASTS)
        keep(page, f"reprs-{theme.lower()}")
        assert len(contrasts) > 80
        # 4.5 is what WCAG 2.2 asks of text of this size (1.4.3, level AA).
        assert [said for said in contrasts if said[0] < 4.5] == []


# The text's colour and every ground below it are laid over each other as the page does, opacity included.
CONTRASTS = """() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith('rgb') ? [r, g, b, a] : [0, 0, 0, 0];
  };
  const over = (top, below) => top.slice(0, 3).map((c, n) => c * top[3] + below[n] * (1 - top[3]));
  const ground = (it) => {
    if (!it) return [255, 255, 255];
    return over(parse(getComputedStyle(it).backgroundColor), ground(it.parentElement));
  };
  const opacity = (it) => (it ? Number(getComputedStyle(it).opacity) * opacity(it.parentElement) : 1);
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const output of document.querySelectorAll('.jp-OutputArea-output')) {
    const walker = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const it = walker.currentNode.parentElement;
      if (!walker.currentNode.textContent.trim()) continue;
      const below = ground(it);
      const [r, g, b, a] = parse(getComputedStyle(it).color);
      const ink = over([r, g, b, a * opacity(it)], below);
      const [dark, bright] = [light(ink), light(below)].sort((x, y) => x - y);
      found.push([(bright + 0.05) / (dark + 0.05), walker.currentNode.textContent]);
    }
  }
  return found;
}"""
