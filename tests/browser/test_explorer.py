"""The explorer as a person uses it: in JupyterLab, in a real browser, with mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from notebook_pages import Lab, keep, page_of

import symbcast as sb

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SOURCE = "import symbcast as sb\n{call}"


@contextmanager
def explorer(browser: Browser, lab: Lab, call: str, theme: str = "Light") -> Iterator[tuple[Page, Locator]]:
    url = lab.write(f"explorer-{theme}-{abs(hash(call))}.ipynb", SOURCE.format(call=call))
    with page_of(browser, url, theme) as page:
        found = page.locator(".symbcast-explorer")
        page.wait_for_selector(".symbcast-explorer[data-state=answered]", timeout=60_000)
        yield page, found


def answered(page: Page, verdict: str) -> None:
    page.wait_for_selector(f".symbcast-explorer[data-state=answered][data-verdict={verdict}]", timeout=10_000)


def expect_text(place: Locator, text: str) -> None:
    from playwright.sync_api import expect

    expect(place).to_contain_text(text)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_type_shapes_click_a_cell_and_copy_the_call(browser: Browser, lab: Lab, theme: str) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")', theme) as (page, explored):
        answered(page, "sometimes")
        expect_text(explored.locator(".answer"), "N == M or N == 1 or M == 1")
        keep(page, f"explorer-{theme.lower()}")

        shapes = explored.get_by_label(re.compile("shape of"))
        shapes.nth(1).fill("1, 1")
        answered(page, "always")
        shapes.nth(1).fill("M, 4")
        answered(page, "never")
        expect_text(explored.locator(".answer"), "3 and 4")
        shapes.nth(1).press("Backspace")
        shapes.nth(1).press("K")
        answered(page, "sometimes")
        expect_text(explored.locator(".answer"), "K == 1 or K == 3")

        explored.get_by_role("gridcell", name="N=5, M=4:").click()
        expect_text(explored.locator(".binding"), "Worked out at N=5, M=4")
        expect_text(explored.locator(".working"), "sizes must be equal or 1")
        explored.get_by_role("gridcell", name="N=4, M=4:").click()
        expect_text(explored.locator(".working"), "output (4, 3)")

        explored.get_by_role("button", name="Copy call").click()
        expect_text(explored, "copied")
        assert page.evaluate("() => navigator.clipboard.readText()") == 'sb.broadcast("N, 3", "M, K")'


def test_what_is_copied_is_what_is_shown(browser: Browser, lab: Lab) -> None:
    call = 'sb.notebook.explore("N, C, H", "C, K", rule="pdpd", axis=1, assume="C >= 2", min_size=1, over=["H", "K"])'
    with explorer(browser, lab, call) as (page, explored):
        explored.get_by_role("gridcell", name="H=2, K=1:").click()
        expect_text(explored.locator(".binding"), "H=2, K=1")
        shown = explored.locator(".call-text").inner_text()
        assert shown == 'sb.broadcast("N, C, H", "C, K", rule="pdpd", axis=1, assume="C >= 2", min_size=1)'
        assert_same_answer(shown, explored)
        explored.get_by_role("button", name="Copy explorer").click()
        expect_text(explored, "copied")
        copied = page.evaluate("() => navigator.clipboard.readText()")
        assert copied.startswith('sb.notebook.explore("N, C, H", "C, K", rule="pdpd", axis=1')
        page.evaluate("() => { document.querySelector('.symbcast-explorer').remove() }")
    with explorer(browser, lab, copied) as (_, again):
        expect_text(again.locator(".binding"), "H=2, K=1")


def assert_same_answer(call: str, explored: Locator) -> None:
    result = eval(call, {"sb": sb})
    for line in ("valid when", "fails at", "works at"):
        assert line in explored.locator(".answer").inner_text()
        assert line in result.explain()
    assert " ".join(re.findall(r"works at +(.*?):", result.explain())) in explored.locator(".answer").inner_text()


def test_faults_stand_under_what_they_are_about(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")') as (page, explored):
        first = explored.get_by_label("shape of A")
        first.fill("N, 3 +")
        page.wait_for_selector(".symbcast-explorer[data-state=faulty]")
        assert first.get_attribute("aria-invalid") == "true"
        expect_text(explored.locator(".shapes .fault").first, "the text ends too early; expected a dimension")
        first.fill("N,, 3")
        expect_text(explored.locator(".shapes .fault").first, "unexpected ','; expected a dimension")
        expect_text(explored.locator(".shapes .under").first, "^")
        # The caret begins where the second comma does: two characters into the field's text.
        offset = page.evaluate(CARET_OFFSET)
        assert abs(offset - 2) < 0.2, offset
        explored.get_by_label("assume").fill("N >= 2 and N < 1")
        first.fill("N, 3")
        expect_text(explored, "this assumption is never true")
        explored.get_by_label("assume").fill("N >= 2")
        answered(page, "sometimes")
        assert explored.locator("[aria-invalid]").count() == 0
        assert explored.locator(".fault:not([hidden])").count() == 0


CARET_OFFSET = """() => {
  const input = document.querySelector('.symbcast-explorer .shapes input');
  const under = document.querySelector('.symbcast-explorer .shapes .under');
  const style = getComputedStyle(input);
  const ruler = document.createElement('canvas').getContext('2d');
  ruler.font = `${style.fontSize} ${style.fontFamily}`;
  const start = input.getBoundingClientRect().left + parseFloat(style.paddingLeft) + parseFloat(style.borderLeftWidth);
  return (under.getBoundingClientRect().left - start) / ruler.measureText('0').width;
}"""


def test_it_opens_on_what_cannot_be_read(browser: Browser, lab: Lab) -> None:
    url = lab.write("faulty.ipynb", 'import symbcast as sb\nsb.notebook.explore("N, (", "M")')
    with page_of(browser, url) as page:
        page.wait_for_selector(".symbcast-explorer[data-state=faulty]", timeout=60_000)
        explored = page.locator(".symbcast-explorer")
        assert explored.locator(".said").inner_text() == "This cannot be read yet."
        assert not explored.locator(".columns").is_visible()
        explored.get_by_label("shape of A").fill("N, 1")
        answered(page, "always")
        assert explored.locator(".columns").is_visible()
        explored.get_by_label("shape of A").fill("N, (")
        expect_text(explored.locator(".said"), "below is the last answer")


def test_the_keyboard_is_enough(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1", sizes={"N": 2, "M": 3})') as (page, explored):
        explored.get_by_label("shape of A").focus()
        stops = []
        for _ in range(20):
            page.keyboard.press("Tab")
            stops.append(page.evaluate(FOCUSED))
        assert stops[:3] == ["remove A", "shape of B", "remove B"], stops
        for stop in ("rule", "assume", "min size", "up to", "N=2, M=3: fails on axis 0 (-2)", "Copy call"):
            assert any(found.startswith(stop) for found in stops), (stop, stops)
        explored.get_by_role("gridcell", name="N=2, M=3:").focus()
        page.keyboard.press("ArrowRight")
        expect_text(explored.locator(".binding"), "N=3, M=3")
        page.keyboard.press("ArrowUp")
        expect_text(explored.locator(".binding"), "N=3, M=4")
        assert page.evaluate(FOCUSED).startswith("N=3, M=4: fails on axis 0 (-2)")
        explored.get_by_label("size of M").fill("3")
        expect_text(explored.locator(".working"), "output (3, 3)")
        slider = explored.get_by_role("slider", name="N")
        slider.focus()
        slider.press("ArrowRight")
        expect_text(explored.locator(".binding"), "N=4, M=3")


FOCUSED = """() => {
  const it = document.activeElement;
  return it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent ?? it.textContent;
}"""


def test_keys_are_not_commands_of_the_notebook(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")') as (page, explored):
        before = page.evaluate(CELLS)
        controls = [explored.get_by_role("gridcell").nth(30), explored.get_by_role("slider").first]
        controls += [explored.get_by_role("button", name="Copy call"), explored.get_by_label("rule")]
        for control in controls:
            control.focus()
            page.keyboard.press("b")  # JupyterLab's own: a cell is added below
            assert control.evaluate("(it) => it === document.activeElement")
        assert page.evaluate(CELLS) == before
        chosen = explored.get_by_label("rule").input_value()
        explored.get_by_label("rule").focus()
        page.keyboard.press("ArrowDown")
        assert explored.get_by_label("rule").input_value() != chosen


CELLS = "() => window.jupyterapp.shell.currentWidget.content.widgets.length"


def test_the_focus_keeps_its_place(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1", sizes={"N": 2, "M": 3})') as (page, explored):
        explored.get_by_role("gridcell", name="N=2, M=3:").focus()
        # Faster than the answers come: none of them takes the focus back.
        for key in ["ArrowRight"] * 3 + ["ArrowUp"] * 12 + ["ArrowLeft"] * 4:
            page.keyboard.press(key)
        expect_text(explored.locator(".binding"), "N=1, M=12")
        assert page.evaluate(FOCUSED).startswith("N=1, M=12: works")
        for name, choice in [("shade by", "1"), ("across", "M")]:
            select = explored.get_by_label(name, exact=True)
            select.focus()
            select.select_option(choice)
            page.wait_for_function(RENEWED.format(name=name))
            assert page.evaluate(FOCUSED) == name
        expect_text(explored.locator(".binding"), "N=1, M=12")


RENEWED = """() => {{
  const focused = document.activeElement;
  return focused?.labels?.[0]?.textContent === '{name}' && focused.isConnected;
}}"""


def test_fields_of_numbers_take_whole_numbers_only(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1", sizes={"N": 2, "M": 3})') as (_, explored):
        for name, held in [("size of N", "2"), ("min size", "0"), ("up to", "12")]:
            field = explored.get_by_label(name)
            for junk in ("1e21", "-1", "2.5", "", "99999999999999999999"):
                field.fill(junk)
                assert field.evaluate("(it) => it.matches(':invalid')"), (name, junk)
                field.blur()
                assert field.input_value() == held, (name, junk)
        explored.get_by_label("size of N").fill(str(2**53 - 1))
        expect_text(explored.locator(".binding"), f"Worked out at N={2**53 - 1}, M=3")
        explored.get_by_role("gridcell", name="N=4, M=5:").click()
        expect_text(explored.locator(".binding"), "Worked out at N=4, M=5")


def test_two_views_stay_in_step(browser: Browser, lab: Lab) -> None:
    call = 'from IPython.display import display\nx = sb.notebook.explore("N, 3", "M, 1")\ndisplay(x)\ndisplay(x)'
    with explorer(browser, lab, call) as (page, views):
        page.wait_for_function("() => document.querySelectorAll('.symbcast-explorer').length === 2")
        first, second = views.nth(0), views.nth(1)
        first.get_by_label("shape of A").fill("K, (")
        expect_text(second.locator(".shapes .fault").first, "ends too early")
        first.get_by_label("shape of A").fill("K, 3")
        second.get_by_label("size of K").fill("7")
        expect_text(first.locator(".binding"), "Worked out at K=7, M=3")
        second.get_by_label("rule").select_option("pdpd")
        second.get_by_label("axis", exact=True).fill("0")
        expect_text(first.locator(".call-text"), 'sb.broadcast("K, 3", "M, 1", rule="pdpd", axis=0)')
        assert first.get_by_label("axis", exact=True).input_value() == "0"
        assert first.get_by_label("size of K").input_value() == "7"


def test_every_control_has_a_name(browser: Browser, lab: Lab) -> None:
    call = 'sb.notebook.explore("N, C, H", "C, K", rule="pdpd", axis=1)'
    with explorer(browser, lab, call) as (_, explored):
        assert explored.evaluate(NAMELESS) == []
        ids = explored.evaluate("(root) => [...root.querySelectorAll('[id]')].map((it) => it.id)")
        assert len(ids) == len(set(ids))


NAMELESS = """(root) => {
  const name = (it) => it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent ?? it.textContent;
  const controls = [...root.querySelectorAll('input, select, button')].filter((it) => !it.hidden);
  return controls.filter((it) => !name(it).trim()).map((it) => it.outerHTML);
}"""


def test_rules_and_their_attributes(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "N")') as (page, explored):
        rule = explored.get_by_label("rule")
        rule.select_option("pdpd")
        explored.get_by_label("axis", exact=True).fill("0")
        answered(page, "always")
        explored.get_by_label("axis", exact=True).fill("x")
        expect_text(explored, "axis='x' is not an integer")
        rule.select_option("explicit")
        expect_text(explored, "needs axes=")
        explored.get_by_label("axes", exact=True).fill("0")
        expect_text(explored, "names 1 axes for data of rank 2")
        rule.select_option("none")
        answered(page, "never")
        rule.select_option("numpy")
        explored.get_by_role("button", name="+ shape").click()
        assert page.evaluate(FOCUSED) == "shape of operand 2"
        page.keyboard.type("K, 3")
        answered(page, "sometimes")
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 3", "N", "K, 3")')
        explored.get_by_role("button", name="remove operand 1").click()
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 3", "K, 3")')


def test_another_rule_is_compared_below_the_answer(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")') as (page, explored):
        field, compared = explored.get_by_label("compare with"), explored.locator(".comparison")
        assert compared.is_hidden()
        field.fill("pdpd(axis=0)")
        expect_text(compared, "numpy accepts everything that pdpd(axis=0) accepts, and they agree")
        field.fill("pdpd(axis=x)")
        page.wait_for_selector(".symbcast-explorer[data-state=faulty]")
        assert field.get_attribute("aria-invalid") == "true"
        expect_text(explored.locator(".question"), "axis='x' is not an integer")
        field.fill("")
        answered(page, "sometimes")
        assert compared.is_hidden()


def test_it_follows_python(browser: Browser, lab: Lab) -> None:
    url = lab.write(
        "follows.ipynb",
        'import symbcast as sb\nexplorer = sb.notebook.explore("N", "M")\nexplorer',
        'explorer.shapes = ["N, 2", "5, 2"]\nexplorer.sizes = {"N": 5}\nprint(explorer)',
    )
    with page_of(browser, url) as page:
        explored = page.locator(".symbcast-explorer")
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 2", "5, 2")')
        expect_text(explored.locator(".binding"), "N = 5")
        assert explored.get_by_label("shape of A").input_value() == "N, 2"


def test_hostile_names_are_text(browser: Browser, lab: Lab) -> None:
    name = "<img src=x onerror=alert(1)><script>window.broken = 1</script>"
    call = f"""sb.notebook.explore("'{name}', 3", "M, 1")"""
    with explorer(browser, lab, call) as (page, explored):
        page.on("dialog", lambda _: pytest.fail("a name ran as script"))
        expect_text(explored.locator(".binding"), name)
        explored.get_by_role("gridcell").first.click()
        expect_text(explored.locator(".legend"), "fails")
        assert explored.locator("img, script").count() == 0
        assert page.evaluate("() => window.broken") is None


def test_keystrokes_are_answered_at_once(browser: Browser, lab: Lab, record_property: Any) -> None:
    # How long is for the benchmarks to say; here, that each keystroke is answered, and the last one stands.
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")') as (page, explored):
        times = page.evaluate(TYPE, "batch, heads, T, T")
        expect_text(explored.locator(".call-text"), 'sb.broadcast("batch, heads, T, T", "M, 1")')
        assert len(times) == len("batch, heads, T, T")
        record_property("keystroke_ms", times)
        print("keystroke to page, ms:", sorted(round(t) for t in times))


TYPE = """async (text) => {
  const root = document.querySelector('.symbcast-explorer');
  const input = root.querySelector('.shapes input');
  const times = [];
  for (let n = 1; n <= text.length; n++) {
    const before = root.dataset.serial;
    const start = performance.now();
    input.value = text.slice(0, n);
    input.dispatchEvent(new Event('input', { bubbles: true }));
    const isAnswered = () => root.dataset.serial !== before && root.dataset.state !== 'deciding';
    while (!isAnswered()) await new Promise(requestAnimationFrame);
    times.push(performance.now() - start);
  }
  return times;
}"""


def test_a_bad_axis_is_told_at_its_field(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, C", "C", rule="pdpd", axis=1)') as (page, explored):
        axis = explored.get_by_label("axis", exact=True)
        axis.fill("7")
        page.wait_for_selector(".symbcast-explorer[data-state=faulty]")
        assert axis.get_attribute("aria-invalid") == "true"
        expect_text(explored.locator(".attributes .fault").first, "axis=7 is past the end of A")


def test_a_large_map_goes_in_steps(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")') as (_, explored):
        expect_text(explored.locator(".map-controls"), "at most 4096, beyond 32 in steps")
        explored.get_by_label("up to").fill("256")
        expect_text(explored.locator(".fixed"), "0 to 256, every 8th size")
        assert explored.get_by_role("gridcell").count() == 33 * 33
        explored.get_by_role("gridcell", name="N=64, M=256:").click()
        expect_text(explored.locator(".binding"), "Worked out at N=64, M=256")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_a_plot_is_on_the_page_with_its_alternative_text(browser: Browser, lab: Lab, theme: str) -> None:
    url = lab.write(f"plot-{theme}.ipynb", 'import symbcast as sb\nax = sb.notebook.plot(sb.broadcast("N, 3", "M, 1"))')
    with page_of(browser, url, theme) as page:
        page.wait_for_selector(".jp-OutputArea-output img", timeout=60_000)
        image = page.locator(".jp-OutputArea-output img")
        assert (image.get_attribute("alt") or "").startswith("Plot of where it works and where it fails")
        grounds = image.evaluate(GROUNDS)
        assert ("rgb(255, 255, 255)" in grounds) is (theme == "Light"), grounds
        keep(page, f"plot-{theme.lower()}")


GROUNDS = """(it) => {
  const found = [];
  for (let place = it; place; place = place.parentElement) found.push(getComputedStyle(place).backgroundColor);
  return found;
}"""


def test_undo_and_the_state_as_text(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")') as (_, explored):
        undo, redo = (explored.get_by_role("button", name=name) for name in ("Undo", "Redo"))
        state = explored.get_by_label("state")
        assert undo.is_disabled() and redo.is_disabled()
        start = state.input_value()
        assert start == '{"shapes":["N, 3","M, 1"]}'
        explored.get_by_label("shape of B").press("End")
        explored.get_by_label("shape of B").press_sequentially("23")
        explored.get_by_label("rule").select_option("pdpd")
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 3", "M, 123", rule="pdpd")')
        later = state.input_value()
        undo.click()
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 3", "M, 123")')
        undo.click()
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 3", "M, 1")')
        assert undo.is_disabled() and state.input_value() == start
        redo.click()
        redo.click()
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 3", "M, 123", rule="pdpd")')
        assert state.input_value() == later
        state.fill('{"shapes": ["K", "3"], "sizes": {"K": 7}}')
        expect_text(explored.locator(".binding"), "Worked out at K=7")
        for junk in ("", "{", '{"shapes": 3}', '{"shape": ["N"]}', '["N"]'):
            state.fill(junk)
            assert state.get_attribute("aria-invalid") == "true"
        expect_text(explored.locator(".call-text"), 'sb.broadcast("K", "3")')
        undo.click()
        expect_text(explored.locator(".call-text"), 'sb.broadcast("N, 3", "M, 123", rule="pdpd")')


def test_a_fix_is_applied_by_one_click_and_undone_by_one(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1", assume="N >= 2")') as (page, explored):
        apply = explored.get_by_role("button", name="Apply fix")
        assert apply.get_attribute("title") == 'assume "M == N" if that is known'
        apply.click()
        answered(page, "always")
        assert explored.get_by_label("assume").input_value() == "N >= 2 and M == N"
        assert apply.is_hidden()
        explored.get_by_role("button", name="Undo").click()
        answered(page, "sometimes")
        assert explored.get_by_label("assume").input_value() == "N >= 2"
        explored.get_by_label("assume").fill("")
        explored.get_by_label("shape of A").fill("4, 2, 3")
        explored.get_by_label("shape of B").fill("4, 2")
        answered(page, "never")
        apply.click()
        answered(page, "always")
        assert explored.get_by_label("shape of B").input_value() == "4, 2, 1"


def test_the_map_is_saved_as_an_image(browser: Browser, lab: Lab) -> None:
    with explorer(browser, lab, 'sb.notebook.explore("N, 3", "M, 1")') as (page, explored):
        with page.expect_download() as found:
            explored.get_by_role("button", name="Save image").click()
        assert found.value.suggested_filename == "broadcast.png"
        assert found.value.path().read_bytes()[:4] == b"\x89PNG"
        explored.get_by_label("shape of A").fill("3")
        explored.get_by_label("shape of B").fill("3")
        answered(page, "always")
        explored.get_by_role("button", name="Save image").click()
        expect_text(explored.locator(".call"), "the shapes have no symbols")


def test_nothing_is_off_a_narrow_page(browser: Browser, lab: Lab) -> None:
    shapes = '"batch_size, channels, height, width, depth", "channels, height//4*4, width//4*4, depth"'
    call = f'sb.notebook.explore({shapes}, over=["height", "width"], up_to=32, compare_with="pdpd(axis=1)")'
    with explorer(browser, lab, call) as (page, explored):
        for width in (400, 260):
            explored.evaluate("(root, width) => { root.style.width = `${width}px`; }", width)
            page.wait_for_timeout(300)
            assert explored.evaluate(OUTSIDE) == [], width
            is_whole = explored.locator(".map").evaluate("(it) => it.scrollWidth <= it.clientWidth")
            assert is_whole or width < 300
        explored.locator(".map").scroll_into_view_if_needed()
        keep(page, "explorer-narrow")


# What scrolls sideways inside its own part of the page can be reached there.
OUTSIDE = """(root) => {
  const edge = root.getBoundingClientRect().right + 1;
  const isScrolled = (it) => /auto|scroll/.test(getComputedStyle(it).overflowX);
  const scrolls = (it) => it !== root && (isScrolled(it) || scrolls(it.parentElement));
  return [...root.querySelectorAll('*')]
    .filter((it) => it.getBoundingClientRect().width && it.getBoundingClientRect().right > edge && !scrolls(it))
    .map((it) => `${it.tagName}.${it.className} ${it.getBoundingClientRect().right - edge}`);
}"""
