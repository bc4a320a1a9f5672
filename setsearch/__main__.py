"""`python -m setsearch ...` is the `setsearch` command."""

from setsearch.cli.app import run

if __name__ == "__main__":
    run()
