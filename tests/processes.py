"""Processes forked from one that has the packages loaded and no threads: there at once, and whatever the tests run."""

import multiprocessing

from patience import patience

CONTEXT = multiprocessing.get_context("forkserver")
# What is loaded here takes no memory of a process that may use little.
LOADED = "web.server web.api cli.commands.serve sqlite.migrations sqlite.integrity indexing.check upkeep".split()
CONTEXT.set_forkserver_preload([f"setsearch.{name}" for name in LOADED])


def _answer(into, function, arguments):
    into.send(function(*arguments))


def in_fresh_process(function, *arguments, seconds=300):
    """What a function of a module returns in a process of its own; that process may fork, and ends in time."""
    out, into = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_answer, args=[into, function, arguments])
    process.start()
    into.close()
    try:
        assert out.poll(patience(seconds)), f"{function.__name__} takes longer than {seconds} s"
        return out.recv()
    except EOFError:
        process.join(patience(20))
        raise AssertionError(f"{function.__name__} ended with {process.exitcode}, see stderr") from None
    finally:
        process.kill()
        process.join()
        out.close()
