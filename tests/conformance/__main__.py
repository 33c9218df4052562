"""``PYTHONPATH=tests:tests/support python -m conformance record [PACKAGE...]|ask ENGINE|table [ENGINE...]``."""

from __future__ import annotations

import sys

from conformance import table


def main() -> None:
    """Record the suite, print what an engine answers, or write the table."""
    match sys.argv[1:]:
        case ["record", *packages]:
            from conformance.record import PACKAGES, record

            record(packages or PACKAGES)
        case ["ask", engine] if engine in table.ENGINES:
            for found in table.answers(engine) or ():
                print(f"{found.worst or 'not asked':9} {found.kind} {found.case}: {found.example}")
        case ["table", *engines]:
            table.record(engines or table.ENGINES)
        case _:
            sys.exit(f"{__doc__}\nThe engines are {', '.join(table.ENGINES)}.")


if __name__ == "__main__":
    main()
