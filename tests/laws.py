"""How many examples hypothesis tries: all of them in the long tests, a share in the fast ones."""

import os

from hypothesis import settings

SHARE, LEAST = float(os.environ.get("SETSEARCH_TEST_EXAMPLES", "0.15")), 8


def examples(number: int) -> settings:
    """Settings with this number of examples in the long tests."""
    return settings(max_examples=max(min(number, LEAST), round(number * SHARE)))
