"""Pictures of hits by matplotlib, for notebooks: the curve of the scores, and the map."""

from io import BytesIO
from typing import Any

from setsearch.errors import UsageError
from setsearch.search.picture import BEYOND, EXAMPLE, INSIDE, MOST_HITS, complete, set_map
from setsearch.search.results import Hits, shortened

SIZE = (11, 4.5)  # inches
LOOKS = {  # examples come last, and cover others
    BEYOND: {"marker": "o", "facecolors": "none", "edgecolors": "tab:gray"},
    INSIDE: {"marker": "o", "color": "tab:blue"},
    EXAMPLE: {"marker": "o", "color": "tab:green"},
}
LONGEST = 24  # characters of a label


def plot_hits(hits: Hits) -> Any:
    """A figure with the scores, the line where the set ends, and the map. Raises UsageError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("pictures need matplotlib: pip install matplotlib") from None
    # A figure that a notebook shows, whether or not pyplot is in use there.
    figure: Any = type("Picture", (Figure,), {"_repr_png_": _png})(SIZE, layout="constrained")
    curve, chart = figure.subplots(1, 2)
    examples, own = complete(hits)
    curve.plot([hit.rank for hit in own], [hit.score for hit in own])
    last = max((hit.rank for hit in own if hit.belongs), default=None)
    if last is not None and last < len(own):
        curve.axvline(last + 0.5, color="tab:red", linestyle="--", label=f"the set ends after {last}")
        curve.legend()
    title = f"all {last} shown belong" if last is not None and last == len(own) else ""
    curve.set(xlabel="rank", ylabel="score", title=title)
    points = set_map(examples, own[:MOST_HITS])
    for kind, looks in LOOKS.items():
        same = [point for point in points if point.kind == kind]
        if same:
            chart.scatter([point.x for point in same], [point.y for point in same], label=kind, **looks)
    for point in points:
        label = shortened(point.label, LONGEST)
        chart.annotate(label.replace("$", r"\$"), (point.x, point.y), (4, 3), textcoords="offset points", fontsize=8)
    if points:
        chart.legend()
    chart.margins(0.12)
    chart.set(xticks=[], yticks=[], title="near ones are in the set for the same reasons")
    return figure


def _png(figure: Any) -> bytes:
    image = BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()
