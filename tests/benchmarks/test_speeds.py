"""The script that writes the tables of speeds: its rows are those of the READMEs, and it replaces only the tables."""

import re

import pytest

from benchmarks import speeds


def names_in(readme):
    table = readme.read_text("utf-8").partition(speeds.BEGIN)[2].partition(speeds.END)[0]
    return re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)


def test_the_readme_has_the_rows_of_the_script():
    listed = names_in(speeds.README)
    known = [name for s in speeds.SECTIONS for name in (s.heads[0], *map(speeds.below, s.rows))]
    own = [name for name in known if not name.startswith("...")]
    assert [name for name in listed if not name.startswith("...")] == own
    assert set(listed) <= set(known)  # of the peers, only those that were installed


def test_the_first_page_compares_rows_of_the_script():
    rows = {name for section in speeds.SECTIONS for name in section.rows}
    assert {row for c in speeds.COMPARED for row, _ in (*c.ours, *c.others.values())} <= rows
    assert names_in(speeds.FRONT) == [speeds.FRONT_HEADS[0], *(c.question for c in speeds.COMPARED)]


def test_tables_have_what_was_measured(monkeypatch):
    rows = {"a": lambda: ("1.5",), "a, by p": lambda: ("20",), "a, by q": lambda: None}
    monkeypatch.setattr(speeds, "SECTIONS", [speeds.Section(("question", "times NumPy"), rows)])
    compared = speeds.Compared("a?", [("a", 0)], {"p": ("a, by p", 0), "q": ("a, by q", 0)})
    monkeypatch.setattr(speeds, "COMPARED", [compared])
    found = speeds.measured()
    assert speeds.tables(found).endswith("| question | times NumPy |\n|---|---|\n| a | 1.5 |\n| ... by p | 20 |")
    assert "\n| a? | 1.5 | p 20 |\n" in speeds.front(found)
    assert speeds.tables(speeds.measured(["by p"])).endswith("|---|---|\n| ... by p | 20 |")


def test_a_table_is_written_between_its_marks():
    text = f"before\n{speeds.BEGIN}\nold\n{speeds.END}\nafter\n"
    assert speeds.written(text, "| a |") == f"before\n{speeds.BEGIN}\n| a |\n{speeds.END}\nafter\n"


def test_what_is_not_installed_has_no_speed():
    def make():
        import no_such_package_as_this  # noqa: F401

    assert speeds.beside(make) is None
    assert speeds.node(make) is None


@pytest.mark.parametrize(
    ("seconds", "text"), [(9.126e-7, "0.91 µs"), (3.456e-4, "346 µs"), (0.0534, "53 ms"), (2.04, "2 s")]
)
def test_times_have_two_or_three_digits(seconds, text):
    assert speeds.duration(seconds) == text
