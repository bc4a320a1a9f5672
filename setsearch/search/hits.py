"""From ranked ids to hits: near-duplicates, names, explanations, snippets, kept columns."""

from collections.abc import Sequence

from setsearch.search.contributions import contributions
from setsearch.search.fields import Fields
from setsearch.search.folding import fold
from setsearch.search.passages import make_snippet
from setsearch.search.request import ExpandRequest
from setsearch.search.results import Hit, Hits
from setsearch.search.weights import SeedWeights

Row = tuple[int, float, bool | None]  # id, score, whether it belongs


def make_hits(fields: Fields, weights: SeedWeights | None, ranked: Sequence[Row], request: ExpandRequest) -> Hits:
    """The hits that a request wants, of items in the order of their rank; without weights, of the model lift."""
    same = fold(fields, [id for id, _, _ in ranked]) if request.fold else {}
    rows = [row for row in ranked if not request.fold or row[0] in same][: request.k]
    ids = [id for id, _, _ in rows]
    features = contributions(weights, ids) if weights and (request.explain or request.snippets) else {}
    columns = fields.columns_of(ids)
    names = fields.describe([*ids, *(other for id in ids for other in same.get(id, ()))])
    hits = [
        Hit(
            rank,
            names[id][0],
            score,
            names[id][1],
            features[id] if request.explain else (),
            belongs,
            make_snippet(fields, id, features[id]) if request.snippets else None,
            columns.get(id),
            tuple(names[other][0] for other in same.get(id, ())),
        )
        for rank, (id, score, belongs) in enumerate(rows, 1)
    ]
    if weights is None:
        return Hits(hits, fields.relation.revision, fields.contexts_revision, 0.0)
    has_base = getattr(weights.model, "has_base", True) or bool(weights.priors)
    blank = None if has_base else weights.constant
    return Hits(hits, fields.relation.revision, fields.contexts_revision, blank, bool(weights.corrections))
