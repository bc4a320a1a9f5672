"""A map of a set: its examples and hits by the two leading components of what they share with it.

An item is the vector of what each feature adds to its score, of length 1. The map shows the two principal components of
these vectors, so that near items are in the set for the same reasons. Of each component the item that is farthest from
the middle lies on the positive side.

Pictures of hits by matplotlib, for notebooks: the curve of the scores, and the map.
"""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from setsearch.answers.results import Asked, Hit, display_name, shortened
from setsearch.arrays import Floats
from setsearch.errors import QueryError, UsageError

EXAMPLE, INSIDE, BEYOND = "example", "inside", "beyond"
SAME = 1e-9  # of the largest number, below which two differ by rounding alone
MOST_EXAMPLES, MOST_HITS = 20, 30  # on a map
LEAST = 3  # items: fewer make no map
ASIDE = 4  # how much farther a column is than a row: in a row of its own a point has room for its label
GAP = 1  # cells between a point and its label


class Point(NamedTuple):
    """An item on a map; `x` and `y` from 0 to 1, to the right and upwards; `kind` is EXAMPLE, INSIDE or BEYOND."""

    item: str
    label: str
    kind: str
    x: float
    y: float


Wide = Callable[[str], int]


class Placed(NamedTuple):
    """A point on a grid of characters, and where its label begins; None if there is no room for the label."""

    point: Point
    column: int
    row: int
    start: int | None
    label: str


def map_hits(hits: Sequence[Hit], asked: Asked | None) -> list[Point]:
    """The map of the seeds and the first hits of an answer; hits alone, if its question is not known."""
    examples, shown = complete(hits, asked)
    return set_map(examples, shown[:MOST_HITS])


def complete(hits: Sequence[Hit], asked: Asked | None) -> tuple[list[Hit], list[Hit]]:
    """The seeds as hits, and the hits with explanations and whether they belong, asked again as far as needed.

    Raises UsageError for hits that have neither explanations nor their question.
    """
    if asked is None:
        if hits and not any(hit.features for hit in hits):
            raise UsageError("hits that were pickled have lost their question: ask with `explain`, or map them before")
        return [], [*hits]
    reading, seeds, options, marked = asked
    names = dict.fromkeys(reading.find(name) for name in list(seeds)[:MOST_EXAMPLES])
    is_complete = all(hit.features for hit in hits) and (marked or any(hit.belongs is not None for hit in hits))
    among, cut = ([*names], None) if is_complete else ([*names, *(hit.item for hit in hits)], "mark")
    if not among:
        return [], [*hits]
    try:
        found = reading.expand(seeds, len(among), **options, among=among, keep_seeds=True, explain=True, cut=cut)
    except QueryError:  # words without contexts, which nothing ranks
        return [], [*hits]
    titles = reading.headlines([hit.item for hit in found if hit.title is None])
    known = {hit.item: hit._replace(title=hit.title or titles.get(hit.item)) for hit in found}
    belongs = {hit.item: hit.belongs for hit in hits}
    own = [known.get(hit.item, hit)._replace(rank=hit.rank, title=hit.title) for hit in hits]
    own = [hit if belongs[hit.item] is None else hit._replace(belongs=belongs[hit.item]) for hit in own]
    return [known[name] for name in names if name in known and name not in belongs], own


def set_map(examples: Sequence[Hit], hits: Sequence[Hit]) -> list[Point]:
    """The map of explained examples and hits; empty for less than three items, or if all are the same."""
    items = [*examples, *hits]
    if len(items) < LEAST:
        return []
    places = components(items)
    spread = np.ptp(places, axis=0)
    if not spread[0] > 0:
        return []
    spread[spread == 0] = np.inf  # all in the middle
    scaled = np.where(np.isinf(spread), 0.5, (places - places.min(axis=0)) / spread)
    kinds = [EXAMPLE] * len(examples) + [BEYOND if hit.belongs is False else INSIDE for hit in hits]
    return [
        Point(hit.item, display_name(hit.item, hit.title), kind, round(x, 4), round(y, 4))
        for hit, kind, (x, y) in zip(items, kinds, scaled.tolist(), strict=True)
    ]


def components(items: Sequence[Hit]) -> Floats:
    """The two leading principal components of explained items, `(n_items, 2)`; 0 for one that has no variance."""
    names = {part.feature: None for hit in items for part in hit.features}
    places = {name: place for place, name in enumerate(names)}
    shares = np.zeros((len(items), len(names)))
    for own, hit in zip(shares, items, strict=True):
        for part in hit.features:
            own[places[part.feature]] += part.weight
    lengths = np.linalg.norm(shares, axis=1, keepdims=True)
    shares /= np.where(lengths > 0, lengths, 1.0)
    shares -= shares.mean(axis=0)
    values, vectors = np.linalg.eigh(shares @ shares.T)
    found = np.zeros((len(items), 2))
    for column, (value, vector) in enumerate(zip(values[::-1][:2], vectors.T[::-1][:2], strict=True)):
        if value > SAME:
            sizes = np.abs(vector)
            farthest = int(np.flatnonzero(sizes >= sizes.max() * (1 - SAME))[0])
            found[:, column] = vector * np.sign(vector[farthest]) * np.sqrt(value)
    return found


def place_labels(points: Sequence[Point], columns: int, rows: int, longest: int = 20, wide: Wide = len) -> list[Placed]:
    """Points on a grid of characters, each with its label beside it where there is room; the first ones come first.

    Where a point has its place, another one takes the nearest that is free, as long as there is one. `wide` tells how
    many characters of the grid a label takes.
    """
    taken = np.zeros((rows, columns), bool)
    cells = []
    for point in points:
        row, column = round((1 - point.y) * (rows - 1)), round(point.x * (columns - 1))
        if taken[row, column] and not taken.all():
            heights, widths = np.ogrid[:rows, :columns]
            far = (heights - row) ** 2 + (ASIDE * (widths - column)) ** 2
            row, column = divmod(int(np.where(taken, np.inf, far).argmin()), columns)
        taken[row, column] = True
        cells.append((column, row))
    placed = []
    for point, (column, row) in zip(points, cells, strict=True):
        label = shortened(point.label, longest)
        size = wide(label)
        starts = (column + 1 + GAP, column - GAP - size)
        fits = (start for start in starts if start >= 0 and start + size <= columns)
        free = (s for s in fits if not taken[row, max(s - (s > column) * GAP, 0) : s + size + GAP].any())
        start = next(free, None)
        if start is not None:
            taken[row, max(start - GAP, 0) : start + size + GAP] = True
        placed.append(Placed(point, column, row, start, label))
    return placed


SIZE = (11, 4.5)  # inches
GRID = (80, 30)  # columns and rows of small letters in the half of it
LOOKS = {  # examples come last, and cover others
    BEYOND: {"marker": "o", "facecolors": "none", "edgecolors": "tab:gray"},
    INSIDE: {"marker": "o", "color": "tab:blue"},
    EXAMPLE: {"marker": "o", "color": "tab:green"},
}
LONGEST = 24  # characters of a label


def plot_hits(hits: Sequence[Hit], asked: Asked | None) -> Any:
    """A figure with the scores, the line where the set ends, and the map. Raises UsageError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("pictures need matplotlib: pip install 'setsearch[plot]'") from None
    # A figure that a notebook shows, whether or not pyplot is in use there.
    figure: Any = type("Picture", (Figure,), {"_repr_png_": _png})(SIZE, layout="constrained")
    curve, chart = figure.subplots(1, 2)
    examples, own = complete(hits, asked)
    curve.plot([hit.rank for hit in own], [hit.score for hit in own])
    last = max((hit.rank for hit in own if hit.belongs), default=None)
    if last is not None and last < len(own):
        curve.axvline(last + 0.5, color="tab:red", linestyle="--", label=f"the set ends after {last}")
        curve.legend()
    title = f"all {last} shown belong" if last is not None and last == len(own) else ""
    curve.set(xlabel="rank", ylabel="score", title=title)
    points = set_map(examples, own[:MOST_HITS])
    placed = place_labels(points, *GRID, LONGEST)
    for kind, looks in LOOKS.items():
        same = [spot for spot in placed if spot.point.kind == kind]
        if same:
            chart.scatter([spot.column for spot in same], [spot.row for spot in same], label=kind, **looks)
    for spot in placed:
        if spot.start is not None:
            is_right = spot.start > spot.column
            place, side = (spot.start, "left") if is_right else (spot.start + len(spot.label), "right")
            chart.text(place, spot.row, spot.label.replace("$", r"\$"), fontsize=8, ha=side, va="center_baseline")
    if points:
        chart.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(LOOKS), frameon=False)
    chart.set(xlim=(-1, GRID[0]), ylim=(GRID[1], -1))  # its rows go down
    chart.set(xticks=[], yticks=[], title="near ones are in the set for the same reasons")
    return figure


def _png(figure: Any) -> bytes:
    image = BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()
