"""The compiled core: one C file that adds posting lists and picks the best items; numpy gives the same bits."""

NOT_BUILT = (
    "the compiled core was not built, so numpy answers, more slowly; in a clone, pip install . builds it where there "
    "is a C compiler, SETSEARCH_CORE=zig pip install . anywhere"
)
