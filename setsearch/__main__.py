"""`python -m setsearch ...` is the `setsearch` command."""

from setsearch.cli import main

if __name__ == "__main__":
    main()
