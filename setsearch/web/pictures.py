"""Pictures of a set: the curve of its scores with the line where it ends, and a map; SVG that needs no script."""

from dataclasses import dataclass

from setsearch.answers.answer import Hits
from setsearch.answers.picture import Placed, place_labels
from setsearch.web.page_state import Address

CURVE = 100, 40  # width and height
CELL = 6, 12  # of the map, for a character
COLUMNS, ROWS = 46, 22  # of the map


@dataclass(frozen=True)
class Curve:
    """Scores by rank as points of an SVG; `end` is the rank where the set ends, None without a line, and `x` its place.

    `moved`: whether the reader moved the line; `said`: how many belong.
    """

    points: str
    count: int
    top: float
    end: int | None
    x: float | None
    moved: bool
    said: str


@dataclass(frozen=True)
class Spot:
    """A point of the map as SVG has it: its circle, and where its label begins if there is room for one."""

    placed: Placed
    x: float
    y: float
    text_x: float | None


def make_curve(address: Address, hits: Hits) -> Curve | None:
    """The curve of some hits, best first; None for less than two, and where groups take turns."""
    if len(hits) < 2 or hits.groups:
        return None
    scores = [hit.score for hit in hits]
    low, top = min(0.0, *scores), max(scores)
    height = (top - low) or 1.0
    places = [CURVE[0] * number / (len(hits) - 1) for number in range(len(hits))]
    points = " ".join(
        f"{x:.2f},{CURVE[1] * (top - score) / height:.2f}" for x, score in zip(places, scores, strict=True)
    )
    belong, moved = sum(1 for hit in hits if hit.belongs), address.end is not None
    end = belong if 0 < belong < len(hits) or (moved and belong) else None  # else it ends behind these
    is_told = hits[0].belongs is not None
    said = "none belong" * is_told if not belong else f"{belong} belong" if end else f"all {belong} belong"
    return Curve(points, len(hits), top, end, None if end is None else round(places[end - 1], 2), moved, said)


def make_map(hits: Hits) -> list[Spot]:
    """The map of the examples and the first hits."""
    wide, high = CELL
    return [
        Spot(own, wide * (own.column + 0.5), high * (own.row + 0.5), None if own.start is None else wide * own.start)
        for own in place_labels(hits.map(), COLUMNS, ROWS)
    ]
