"""`python cli.py ...` in a clone is the `setsearch` command."""

from setsearch.__main__ import run

if __name__ == "__main__":
    run()
