"""Updates write the difference between old and new features."""

import pytest

import setsearch


@pytest.mark.parametrize("old", [{}, {"x": 1}, {"x": 2, "y": 1}])
@pytest.mark.parametrize("new", [{}, {"x": 1}, {"y": 3}])
def test_an_update_writes_the_difference(tmp_path, old, new):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", old), ("b", {"x": 1})], ("film", "user"))
        index.update([("a", new)], ("film", "user"))
        assert index.items("film").features_of("a") == new
        assert index.check() == []
