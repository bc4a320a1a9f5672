"""`python cli.py ...` in a clone is the `setsearch` command."""

from setsearch.cli.app import run

if __name__ == "__main__":
    run()
