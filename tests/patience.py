"""How long tests wait for what must happen: seconds times one factor, for slow machines."""

import os

PATIENCE = float(os.environ.get("SETSEARCH_TEST_PATIENCE", "1"))


def patience(seconds: float) -> float:
    """These seconds, scaled by SETSEARCH_TEST_PATIENCE."""
    return seconds * PATIENCE
