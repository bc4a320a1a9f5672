"""The `setsearch` command; also `python -m setsearch ...`, and `python cli.py ...` in a clone."""

import signal


def run() -> None:
    """Run the command line. While it is loaded, Ctrl-C ends the process without a word."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from setsearch.cli.app import run as run_command

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_command()


if __name__ == "__main__":
    run()
