"""Run the command line: ``python -m symbcast``."""

from symbcast.cli import main

if __name__ == "__main__":
    main()
