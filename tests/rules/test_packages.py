"""Rules of installed packages: used from Python and from the command line, and refused where they are at fault.

The packages of ``data/rule_packages`` are installed as an installer would, into a folder of their own: their modules
are copied, and their metadata is written beside them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import symbcast as sb

PACKAGES = Path(__file__).parents[1] / "data" / "rule_packages"


def install(package, site):
    """Install a package into a folder of packages."""
    project = tomllib.loads((PACKAGES / package / "pyproject.toml").read_text())["project"]
    for module in (PACKAGES / package).glob("*.py"):
        shutil.copy(module, site)
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = (
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
        for group, entries in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))


@pytest.fixture
def site(tmp_path):
    """A folder of packages that are all installed."""

    def made(*packages):
        for package in packages:
            install(package, tmp_path)
        return tmp_path

    return made


def run(site, *arguments):
    path = os.pathsep.join([str(site), str(Path(sb.__file__).parents[1])])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100"},
    )


def python(site, program):
    """Return the lines that a program prints."""
    done = run(site, "-c", f"import symbcast as sb\n{program}")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def command(site, *arguments):
    return run(site, "-m", "symbcast", *arguments)


def test_a_rule_of_a_package_answers(site):
    told = python(
        site("batched"),
        """
result = sb.broadcast("N, 3", "M, 1", rule="batched")
print(result.condition, result.shape)
print(sb.broadcast("N, 3", "N, K", rule="batch-first", batch_axes=2).condition)
print(sb.rules()[-1].name, sb.rules()[-1].parameters[0].name)
""",
    )
    assert told == ["N == M (N, 3)", "K == 3", "batched batch_axes"]


def test_a_rule_of_a_package_is_explained(site):
    folder = site("batched")
    told = python(folder, 'print(sb.broadcast("2, N", "N, 2", rule="batched", assume="N >= 3").explain())')
    text = "\n".join(told)
    assert text.startswith("batched: valid for no sizes")
    assert "axis 0 (-2) of A and B needs: N is 2" in text
    assert "transpose B to (2, N)" in text
    told = python(folder, 'print(sb.broadcast("2, 4", "3, 4", rule="batched").explain())')
    assert "impossible   axis 0 (-2) has 2 and 3 (batch sizes must be equal)" in told


def test_a_program_with_a_rule_of_a_package_reads_back_elsewhere(site):
    folder = site("batched")
    add = 'env = sb.ShapeEnv()\nenv.broadcast("N, 3", "M, 1", rule="batched", batch_axes=1)\n'
    (written,) = python(folder, f"{add}import json\nprint(json.dumps(env.to_dict()))")
    (read,) = python(folder, f"print(sb.ShapeEnv.from_dict({json.loads(written)!r}).condition)")
    assert read == "N == M"


def test_results_by_a_rule_of_a_package_are_pickled(site):
    folder = site("batched")
    asked = "import pickle\nprint(pickle.dumps(sb.broadcast('N', 'M', rule='batched')).hex())"
    (pickled,) = python(folder, asked)
    (read,) = python(folder, f"import pickle\nprint(pickle.loads(bytes.fromhex('{pickled}')).condition)")
    assert read == "N == M"


def test_packages_are_not_looked_at_without_need(site):
    told = python(
        site("batched", "broken"),
        """
import sys
sb.broadcast("N, 3", "M", rule="pdpd", axis=0).verdict
print([m for m in ("batched_rules", "broken_rules", "importlib.metadata") if m in sys.modules])
""",
    )
    assert told == ["[]"]


def test_its_attribute_is_an_option(site):
    folder = site("batched")
    done = command(folder, "check", "2, N", "2, 3", "--rule", "batched", "--batch-axes", "2", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["condition"] == "N == 3"
    assert json.loads(done.stdout)["rule"]["attributes"] == {"batch_axes": 2}
    done = command(folder, "check", "2", "2", "--rule", "batched", "--batch-axes", "two")
    assert done.returncode == 2
    assert "--batch-axes" in done.stderr
    done = command(folder, "check", "2", "2", "--rule", "batch-first", "--batch-axes=-1")
    assert done.returncode == 0


def test_the_help_and_the_list_of_rules_show_it(site):
    folder = site("batched")
    text = " ".join(command(folder, "check", "--help").stdout.split())
    assert "--batch-axes N How many leading axes must be equal (batched)." in text
    done = command(folder, "rules")
    assert "attributes   batch_axes=1" in done.stdout
    assert "also called  batch-first" in done.stdout


def test_a_broken_package_is_named_and_the_others_work(site):
    folder = site("batched", "broken")
    told = python(
        folder,
        """
import warnings
print(sb.broadcast("N", "M", rule="batched").condition)
for name in ("broken", "unheard-of"):
    try:
        sb.broadcast("N", "M", rule=name)
    except sb.SymbcastError as error:
        print(type(error).__name__, "|", " ".join(str(error).split()))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print([rule.name for rule in sb.rules()][-1])
print([(w.category.__name__, w.filename == "<string>") for w in caught], "broken-rules" in str(caught[0].message))
""",
    )
    problem = (
        "the package 'broken-rules' adds the rule 'broken', which cannot be loaded: "
        "RuntimeError: its library is missing; repair or uninstall broken-rules"
    )
    assert told[0] == "N == M"
    assert told[1] == f"RulePluginError | {problem}"
    assert told[2].startswith("UnknownRuleError | there is no rule 'unheard-of';") and told[2].endswith(problem)
    assert told[3:] == ["batched", "[('RulePluginWarning', True)] True"]
    done = command(folder, "rules")
    assert done.returncode == 0
    assert " ".join(done.stderr.split()) == f"error: {problem}"
    assert "\nbatched\n" in done.stdout


def test_a_name_of_symbcasts_own_cannot_be_taken(site):
    told = python(
        site("clashing"),
        """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print("mine" in [rule.name for rule in sb.rules()])
print(caught[0].message)
print(sb.broadcast("2, 3", "2", rule="pdpd", axis=0).verdict.value)
""",
    )
    assert told[0] == "False"
    assert "the package 'clashing-rules'" in told[1]
    assert "'pdpd' is a rule of symbcast itself; choose another name" in told[1]
    assert told[2] == "always"


def test_what_no_package_offers_loads_no_library_that_reads_metadata(site):
    """The list of all rules asks for those of packages: an entry point of another group is not one of them."""
    (other := site() / "other-1.0.dist-info").mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[console_scripts]\nother = other:main\n")
    program = "import sys, symbcast as sb; sb.rules(); print('importlib.metadata' in sys.modules)"
    offered = "from importlib.metadata import entry_points; print(len(entry_points(group='symbcast.rules')))"
    assert python(site(), f"{program}\n{offered}") == ["False", "0"]
    assert python(site("batched"), program) == ["True"]


def test_rules_in_an_archive_are_known(site, tmp_path):
    """Python imports from archives, and so do packages that were never unpacked."""
    site("batched")
    archive = shutil.make_archive(str(tmp_path.parent / f"{tmp_path.name}_archive"), "zip", tmp_path)
    done = run(archive, "-c", "import symbcast as sb; print(sb.broadcast('N, 3', 'M, 1', rule='batched').condition)")
    assert done.stdout.strip() == python(tmp_path, "print(sb.broadcast('N, 3', 'M, 1', rule='batched').condition)")[0]
