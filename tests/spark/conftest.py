"""Spark in this process, where there is one."""

import shutil

import pytest

pytest.importorskip("pyspark", reason="needs Spark: pip install setsearch[spark]")
if shutil.which("java") is None:
    pytest.skip("needs Java 17: apt-get install openjdk-17-jre-headless", allow_module_level=True)

from cluster import start


@pytest.fixture(scope="module")
def spark():
    """Spark on two threads of this machine."""
    session = start("local[2]")
    yield session
    session.stop()
