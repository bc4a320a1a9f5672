"""From ranked rows to hits: names, titles and columns, reasons and snippets of each; and what groups are called."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import repeat
from types import MappingProxyType
from typing import NamedTuple

from setsearch.answers.answer import LONGEST_NAME, Hits
from setsearch.answers.contributions import contributions
from setsearch.answers.passages import make_snippets
from setsearch.answers.reasons import wording
from setsearch.answers.results import Hit, Reason, rest_of, shortened
from setsearch.memory.fields import Fields
from setsearch.search.examples import Examples
from setsearch.search.groups import Divided
from setsearch.search.request import ExpandRequest
from setsearch.search.weights import SeedWeights


class Group(NamedTuple):
    """A group of the examples, with their names; those of all examples have none."""

    weights: SeedWeights
    names: tuple[str, ...] = ()


class Row(NamedTuple):
    """An item that may be a hit."""

    id: int
    score: float
    belongs: bool | None
    place: int  # of its group


_hit = partial(tuple.__new__, Hit)  # of all its values, in a sixth of the time of a call


def make_hits(
    fields: Fields,
    groups: Sequence[Group],
    rows: Sequence[Row],
    request: ExpandRequest,
    same: Mapping[int, Sequence[int]] = MappingProxyType({}),
) -> Hits:
    """Hits of items in the order of their rank, with near-duplicates."""
    ids = [row.id for row in rows]
    explain, snippets = request.options.get("explain"), request.options.get("snippets")
    features, reasons, sharing = {}, {}, list[Callable[[], tuple[Reason, ...]]]()
    for place, (weights, _) in enumerate(groups if explain or snippets else ()):
        own = [row for row in rows if row.place == place]
        parts = contributions(fields, weights, [row.id for row in own])
        features.update(parts)
        if explain:
            how = wording(fields, parts.values(), weights.examples.ids)
            reasons.update({row.id: how.reasons(parts[row.id], rest_of(row.score, parts[row.id])) for row in own})
            inside = [parts[row.id] for row in own if row.belongs is not False]
            sharing += [partial(how.common, inside)] if len(inside) > 1 else []
    passages = make_snippets(fields, features) if snippets else {}
    described = fields.describe([*ids, *(other for id in ids for other in same.get(id, ()))])
    named, columns = [described[id] for id in ids], fields.columns_of(ids)
    hits = map(
        _hit,
        zip(
            range(1, len(rows) + 1),
            [name for name, _ in named],
            [row.score for row in rows],
            [title for _, title in named],
            [features[id] for id in ids] if explain else repeat(()),
            [row.belongs for row in rows],
            map(passages.get, ids),
            map(columns.get, ids),
            [tuple([described[other][0] for other in same[id]]) for id in ids] if any(same.values()) else repeat(()),
            [reasons[id] for id in ids] if explain else repeat(()),
            [groups[row.place].names for row in rows],
            strict=False,  # of what repeats
        ),
    )
    found = Hits(hits)
    found.revision, found.contexts_revision = fields.relation.revision, fields.contexts_revision
    found.whole, found.sharing, found.learned = fields.items.whole, tuple(sharing), bool(groups[0].weights.corrections)
    if not any(getattr(own.model, "has_base", True) or own.has_priors for own, _ in groups):
        found.blank = groups[0].weights.constant
    if groups[0].names:
        found.groups = tuple([group.names for group in groups])
    else:
        found.beside = next((hit.group for hit in found if hit.group), ())
    return found


def named_groups(fields: Fields, found: Divided) -> list[Group]:
    """The groups with names, in the order of these; one that is not heard is behind all examples."""
    if found.unheard is not None:
        return [Group(found.in_turn[0]), Group(found.unheard, _names(fields, found.unheard.examples))]
    if len(found.in_turn) == 1:
        return [Group(found.in_turn[0])]
    return sorted((Group(own, _names(fields, own.examples)) for own in found.in_turn), key=lambda group: group.names)


def _names(fields: Fields, examples: Examples) -> tuple[str, ...]:
    """What examples are called: items in order, then texts."""
    names = [name for name, _ in fields.describe(examples.ids).values()]
    if fields.stored is not None:  # words without contexts
        names += [name for name, _ in fields.stored.describe([*examples.rare]).values()]
    names.sort()
    names += [shortened(text, LONGEST_NAME) for text in examples.like]
    return (*names, *["features"] * examples.has_features)
