"""What figures were measured on, and where they are kept."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import setsearch

RESULTS = Path(__file__).parent / "results"
PACKAGES = "numpy scipy numba bm25s tantivy xapian-bindings-binary scikit-learn whoosh bayessets jpype1".split()


def machine() -> dict[str, Any]:
    """The processor, and the versions of setsearch, of what it needs, and of peers."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), platform.processor())
    versions = {"python": platform.python_version(), "setsearch": setsearch.__version__}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {"cpu": model, "cores": os.cpu_count(), "versions": versions}
