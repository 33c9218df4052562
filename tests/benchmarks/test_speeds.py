"""The script that writes the table of speeds: its rows are those of the README, and it replaces only the table."""

import re

from benchmarks import speeds


def test_the_readme_has_the_rows_of_the_script():
    table = speeds.README.read_text("utf-8").partition(speeds.BEGIN)[2].partition(speeds.END)[0]
    listed = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    known = [name for s in speeds.SECTIONS for name in (s.heads[0], *(row for row, _ in s.rows))]
    own = [name for name in known if not name.startswith("...")]
    assert [name for name in listed if not name.startswith("...")] == own
    assert set(listed) <= set(known)  # of the peers, only those that were installed


def test_a_table_is_written_between_its_marks():
    section = speeds.Section(("question", "times NumPy"), [("a", lambda: ("1.5",)), ("b c", lambda: ("20",))])
    table = "\n".join(speeds.rows(section, ["c"]))
    assert table == "| question | times NumPy |\n|---|---|\n| b c | 20 |"
    text = f"before\n{speeds.BEGIN}\nold\n{speeds.END}\nafter\n"
    assert speeds.written(text, table) == f"before\n{speeds.BEGIN}\n{table}\n{speeds.END}\nafter\n"


def test_what_is_not_installed_has_no_speed():
    def make():
        import no_such_package_as_this  # noqa: F401

    assert speeds.beside(make) is None
