"""The `setsearch` command; also `python -m setsearch ...`, and `python cli.py ...` in a clone."""

import gc
import os
import signal

GC_THRESHOLD = 100_000  # new objects between garbage collections: most commands end before the first


def run() -> None:
    """Run the command line. While it is loaded, Ctrl-C ends the process without a word."""
    gc.set_threshold(GC_THRESHOLD)
    # Threads of OpenBLAS, which numpy starts, burn 30 ms before they first sleep; at 2^4 cycles they sleep at once.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from setsearch.cli.app import run as run_command

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_command()


if __name__ == "__main__":
    run()
