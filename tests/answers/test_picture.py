"""Pictures of a set: the map against its definition, where labels go, and what matplotlib draws."""

import pickle
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setsearch
from setsearch import errors
from setsearch.answers.picture import BEYOND, EXAMPLE, INSIDE, Point, components, place_labels, set_map
from setsearch.answers.results import Contribution, Hit

KINDS = {"cats": "lion tiger leopard panther lynx", "grain": "wheat barley oats rye spelt", "tools": "saw file plane"}


@pytest.fixture
def kinds(tmp_path):
    """Documents of three kinds, with titles."""
    with setsearch.open(tmp_path / "k.db", create=True) as index:
        for kind, names in KINDS.items():
            words = names.split()
            index.add(
                [(f"{kind}{n}", f"{kind} {kind}s {name} {words[n - 1]} one", name) for n, name in enumerate(words)]
            )
        yield index.items("documents")


def explained(shares):
    """Hits with the weights of features f0, f1, ..., as they add to the scores."""
    return [
        Hit(n, f"i{n}", sum(row), features=tuple(Contribution(f"f{f}", w) for f, w in enumerate(row) if w))
        for n, row in enumerate(shares, 1)
    ]


@given(
    st.integers(2, 9).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 5).map(float), min_size=width, max_size=width), min_size=3, max_size=9
        )
    )
)
def test_components_are_those_of_the_definition(shares):
    found = components(explained(shares))
    rows = np.array([np.array(row) / (np.linalg.norm(row) or 1.0) for row in shares])
    left, sizes, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    sizes = np.append(sizes, [0.0, 0.0])
    assert np.allclose((found**2).sum(axis=0), sizes[:2] ** 2, atol=1e-9)  # the variance of each
    for column in range(2):
        alone = sizes[column] > 1e-4 and min(abs(sizes[column] - other) for other in np.delete(sizes, column)) > 1e-3
        if alone:  # else any direction among the equal ones is a component
            wanted = left[:, column] * sizes[column]
            assert np.allclose(np.abs(found[:, column] @ wanted), sizes[column] ** 2)
        values = found[:, column]
        if np.abs(values).max() > 0:
            ties = np.flatnonzero(np.abs(values) >= np.abs(values).max() * (1 - 1e-6))
            assert (values[ties] > 0).any(), "the farthest one is on the positive side"


def test_a_map_tells_two_reasons_apart():
    two = explained([[3.0, 1.0, 0, 0], [2.0, 1.0, 0, 0], [0, 0, 3.0, 1.0], [0, 0, 2.0, 1.0]])
    places = [point.x for point in set_map(two[:1], two[1:])]
    assert max(places[:2]) < min(places[2:]) or min(places[:2]) > max(places[2:])
    assert {0.0, 1.0} <= {*places}
    assert set_map([], two[:2]) == set_map([], explained([[1.0], [2.0], [3.0]])) == []


points = st.lists(
    st.builds(
        Point,
        st.just("x"),
        st.text(st.characters(categories=["L"]), min_size=1, max_size=30),
        st.sampled_from([EXAMPLE, INSIDE, BEYOND]),
        st.floats(0, 1),
        st.floats(0, 1),
    ),
    max_size=40,
)


@given(points, st.integers(20, 90), st.integers(3, 30))
def test_labels_stand_beside_their_points_and_not_on_others(points, columns, rows):
    placed = place_labels(points, columns, rows)
    assert [own.point for own in placed] == points
    marks = {(own.row, own.column) for own in placed}
    assert len(marks) == len(points), "each is seen"
    taken = set()
    for own in placed:
        assert 0 <= own.column < columns and 0 <= own.row < rows
        if own.start is None:
            continue
        cells = {(own.row, column) for column in range(own.start, own.start + len(own.label))}
        assert own.start >= 0 and own.start + len(own.label) <= columns
        assert not cells & (taken | marks)
        assert own.start == own.column + 2 or own.start + len(own.label) == own.column - 1
        taken |= cells


def test_hits_have_a_map_of_their_examples_and_themselves(kinds):
    hits = kinds.expand(["lion", "cats1"], 8)
    found = {point.item: point for point in hits.map()}
    assert list(found) == ["cats0", "cats1", *(hit.item for hit in hits)]
    assert [found[item].kind for item in ("cats0", "cats1")] == [EXAMPLE, EXAMPLE]
    assert found["cats0"].label == "lion"
    marked = kinds.expand(["lion", "cats1"], 8, explain=True, cut="mark")
    assert marked.map() == hits.map(), "what the hits do not have is asked again"
    assert {hit.item for hit in marked if hit.belongs} == {item for item, own in found.items() if own.kind == INSIDE}
    assert hits.shared().map() == hits.with_hits(hits[: len(hits.shared())]).map()
    sent = pickle.loads(pickle.dumps(marked))
    assert sent == marked and sent.asked is None
    assert [point.item for point in sent.map()] == [hit.item for hit in marked], "without the question, the hits alone"
    bare = pickle.loads(pickle.dumps(hits))
    with pytest.raises(setsearch.errors.UsageError, match="hits that were pickled have lost their question"):
        bare.map()
    assert kinds.expand_many([["lion", "cats1"]], 8)[0].map() == hits.map()
    assert setsearch.Hits().map() == []


def test_what_cannot_be_told_is_not_asked_again(tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "u.db", create=True) as index:
        index.add([(f"d{n}", f"a{n % 3} b{n % 5} c{n % 7}") for n in range(300)])
        documents = index.items("documents")
        hits = documents.expand(["d1", "d100", "d200"], 8, explain=True, cut="mark")
        assert hits.untold and all(hit.features for hit in hits)
        asked, expand = [], type(documents).expand
        monkeypatch.setattr(
            type(documents), "expand", lambda *own, **how: asked.append(how["among"]) or expand(*own, **how)
        )
        found = hits.map()
        assert asked == [["d1", "d100", "d200"]], "the seeds alone"
        assert found == hits.with_hits(hit._replace(features=()) for hit in hits).map()


def test_numbers_have_a_map(tmp_path):
    with setsearch.open(tmp_path / "n.db", create=True) as index:
        index.add_numbers([(f"n{n}", [n, n * n % 7, -n]) for n in range(9)], ("a", "b", "c"), "thing")
        found = index.numbers("thing").expand(["n1", "n2"], 5).map()
    assert [point.kind for point in found[:2]] == [EXAMPLE, EXAMPLE] and len(found) == 7


def test_matplotlib_draws_the_curve_and_the_map(kinds):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install setsearch[plot]")
    hits = kinds.expand(["lion", "cats1"], 8)
    figure = hits.plot()
    curve, chart = figure.axes
    scores, line = curve.lines
    assert scores.get_ydata().tolist() == [hit.score for hit in hits]
    belong = sum(bool(hit.belongs) for hit in kinds.expand(["lion", "cats1"], 8, cut="mark"))
    assert set(line.get_xdata()) == {belong + 0.5}
    assert sum(len(drawn.get_offsets()) for drawn in chart.collections) == len(hits.map())
    assert {text.get_text() for text in chart.texts} == {point.label for point in hits.map()}
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert setsearch.Hits(explained([[2.0, 0.0], [1.0, 1.0]])).plot().axes[0].lines


def test_labels_of_a_picture_do_not_cover_one_another():
    agg = pytest.importorskip("matplotlib.backends.backend_agg", reason="needs matplotlib")
    figure = setsearch.Hits(explained([[2.0, 0.0, 1.0]] * 9 + [[0.0, 3.0, 1.0]] * 9)).plot()
    agg.FigureCanvasAgg(figure).draw()
    chart = figure.axes[1]
    boxes = [text.get_window_extent().padded(-1) for text in chart.texts]
    assert len(boxes) > 9
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    frame = chart.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes), "none is cut off"


def test_without_matplotlib_one_line_says_what_to_install(kinds, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(errors.UsageError, match=r"^pictures need matplotlib: pip install 'setsearch\[plot\]'$"):
        kinds.expand(["lion"]).plot()
