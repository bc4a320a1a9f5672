"""What the page shows: the answer to its state, as plain values for the templates."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from setsearch.answers.answer import Hits
from setsearch.answers.highlight import item_text, mark_features, titles_of, top_features, with_headlines
from setsearch.answers.reading import Reading
from setsearch.answers.results import NOTHING_SHARED, Hit, Reason, display_name
from setsearch.answers.saved.groups import Groups
from setsearch.answers.saved.item_sets import AnyReading, Question
from setsearch.errors import AmbiguousItem, InvalidParameter, NothingToRank, QueryError, UsageError
from setsearch.index import Index
from setsearch.models.defaults import field_weights
from setsearch.options import ALL, MODEL, Option
from setsearch.search.cutoff import ENOUGH, odd_one
from setsearch.search.groups import FEWEST
from setsearch.storage.ids import plain_name
from setsearch.storage.kept.conditions import equality
from setsearch.web.page_state import Address
from setsearch.web.pictures import Curve, Spot, make_curve, make_map
from setsearch.web.start import Start, first_items, label_of, make_start
from setsearch.web.typed_names import find_spelled, find_typed, without_commands

LONGEST_FILTER = 80  # characters of a condition that a value offers
HITS = {"small": 15, "large": 200, "all": 1000}
LEAST_LARGE = 50  # hits of a large list, if fewer belong
LISTED = 48  # features of an item
LONGEST_TEXT = 200_000  # characters of a text that are shown: of millions a browser hangs
SHADES = 4  # of marks


@dataclass(frozen=True)
class Bar:
    """A feature's part of a score: start and length of its bar, of 100."""

    label: str
    weight: float
    start: float
    length: float
    address: Address | None = None
    sentence: str = ""


@dataclass(frozen=True)
class Row:
    """A hit for display; the weights of `parts` sum to its score."""

    hit: Hit
    label: str
    parts: list[Bar]
    snippet: list[tuple[str, bool]]  # its pieces, and whether they are marked
    columns: list[tuple[str, list[tuple[str, Address | None]]]]  # values of each, and the page with only these
    ends: bool  # whether the next one is below the line


class Switch(NamedTuple):
    """A field: whether it counts, and the page where that is turned over."""

    name: str
    counts: bool
    turned: Address


@dataclass
class View:
    """The page of a set."""

    address: Address
    readings: list[dict[str, Any]]
    sets: dict[str, str]
    placed: Groups  # the groups of the sets, and within which others lie
    unknown: list[dict[str, Any]] = field(default_factory=list)
    mistyped: str = ""  # the only unknown example, to be mended in the field
    is_kept: bool | None = None  # whether the set that is open was saved as it is here; None if none is open
    titles: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    shared: list[Bar] = field(default_factory=list)
    start: Start | None = None
    problem: str | None = None
    note: str | None = None
    other: Address | None = None  # the features of the examples as items
    regrouped: Address | None = None  # in one list if there are groups, else in two groups
    groups: list[list[str]] = field(default_factory=list)  # of the examples, if they fall into some
    fields: list[Switch] = field(default_factory=list)  # if there are several
    odd: str | None = None  # the example that fits the others least
    curve: Curve | None = None
    map: list[Spot] = field(default_factory=list)

    @property
    def label(self) -> str:
        return label_of(self.address.items or "")

    @property
    def named(self) -> list[str]:
        """The examples as people know them."""
        return [self.titles.get(name, name) for name in self.address.examples]

    @property
    def wholes(self) -> list[str]:
        """The sets within which the one that is open can lie."""
        name = self.address.set or ""
        own = [other for other, items in self.sets.items() if items == self.address.items]
        return [other for other in own if other != name and name not in self.placed.wholes(other)]


def make_view(index: Index, asked: Address, typed: Mapping[str, str] | None = None) -> View:
    """The page of a state; unknown examples are reported and left out. Raises UnknownReading, DatabaseError.

    `typed` is what a form for a new review had, and the problem with it.
    """
    readings = index.readings()
    reading = index.reading(first_items(asked, readings))
    address, unknown = find_typed(reading, asked.replace(items=reading.name))
    view = View(address, readings, index.sets(), index.groups(), unknown)
    mistyped = [own["name"] for own in unknown if not own["several"] and own["name"] not in asked.rejected]
    view.mistyped = mistyped[0] if len(mistyped) == len(unknown) == 1 else ""
    view.titles = titles_of(reading, (*address.seeds, *address.rejected))
    if not address.asks:
        view.start = make_start(reading, readings, address, typed or {})
        return view
    view.fields = _switches(reading, address)
    if view.sets.get(address.set or "") == reading.name:
        own = index.set(address.set or "")
        view.is_kept = ({*own.accepted}, {*own.rejected}) == ({*address.seeds}, {*address.rejected})
    try:
        hits = _hits(index, reading, address)
        view.rows = _rows(address, hits)
        view.shared = _shared(reading, address, hits)
        view.note = _note(reading, address, hits)
        view.groups = [[*group] for group in hits.groups]
        view.odd = None if hits.groups else _odd(reading, address)
        if reading.in_one_list and len(address.seeds) >= FEWEST:
            view.regrouped = address.with_only("groups", "1" if hits.groups else "2")
        view.curve = make_curve(address, hits)
        view.map = make_map(hits)
    except (QueryError, UsageError) as error:
        view.problem = without_commands(str(error))
    other = _other_side(readings, reading.name)
    if other and address.seeds:
        view.other = Address(items=other, having=address.seeds)
        if plain_name(other) == "terms":  # contexts have no documents
            view.other = view.other.with_option("by", "documents")
    return view


def _switches(reading: AnyReading, address: Address) -> list[Switch]:
    """The fields of a reading, if it has several."""
    names = reading.defaults.fields
    usual = dict.fromkeys(names, 1.0) | dict(reading.defaults.weights)
    weights = usual
    with suppress(InvalidParameter):
        given = _options(reading, address).get("by")
        weights = weights if given is None or not names else field_weights(given)
    switches = []
    for name in names:
        kept = {own: weight for own in names if own != name and (weight := weights.get(own))}
        counting = kept if weights.get(name) else kept | {name: usual[name] or 1.0}
        by = ",".join(f"{own}={counting[own]:g}".removesuffix("=1") for own in names if own in counting)
        is_usual = counting == {own: weight for own, weight in usual.items() if weight}
        turned = address.with_only("by", None if not by or is_usual else by)
        switches.append(Switch(name, bool(weights.get(name)), turned))
    return switches


def open_item(index: Index, asked: Address, name: str) -> dict[str, Any]:
    """The page of an item: its text with the features marked that matter to the set, or its features alone.

    Of a title that several items have, these. Raises UnknownItem, NoSeeds.
    """
    reading = index.reading(asked.items)
    try:
        item = find_spelled(reading, name)
    except AmbiguousItem:
        meant = [found.item for found in reading.find_names(name, LISTED) if found.title is not None]
        return {"label": name, "item": name, "address": asked.replace(items=reading.name), "meant": meant}
    address, _ = find_typed(reading, asked.replace(items=reading.name))
    title = titles_of(reading, [item]).get(item)
    hit = _hit(index, reading, address, item) if address.asks else None
    bars = score_bars(hit, scale_of([hit])) if hit else []
    text = item_text(reading, item)
    pieces = marked_text(reading, text, hit) if text is not None and isinstance(reading, Reading) else []
    counts, count = top_features(reading, item, LISTED)
    most = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:LISTED]
    other = _other_side(index.readings(), reading.name)
    features = [
        {"name": feature, "count": count, "open": Address(items=other) if other else None} for feature, count in most
    ]
    return {
        "item": item,
        "meant": [],
        "label": display_name(item, title),
        "address": address,
        "hit": hit,
        "bars": bars,
        "pieces": pieces,
        "features": features,
        "more": max(0, count - len(most)),
        "marks": sum(1 for piece in pieces if piece["weight"]),
    }


def marked_text(reading: Reading, text: str, hit: Hit | None) -> list[dict[str, Any]]:
    """A text in pieces, with the weights of those that matter to the set; of the end of a long one the length."""
    heaviest = max((abs(part.weight) for part in hit.features), default=1.0) if hit else 1.0
    pieces = [
        {"text": piece.text, "weight": piece.weight, "level": _level(piece.weight, heaviest)}
        for piece in mark_features(reading, text[:LONGEST_TEXT], hit.features if hit else ())
    ]
    if (left := len(text) - LONGEST_TEXT) > 0:
        pieces.append({"text": f"… and {left:,} more characters", "weight": 0.0, "level": 0})
    return pieces


def export_rows(index: Index, asked: Address) -> list[dict[str, Any]]:
    """The set for export: examples, items that belong, further suggestions, rejected items."""
    view = make_view(index, asked)
    rows = [_exported(name, "example", view) for name in view.address.seeds]
    for row in view.rows:
        rows.append(_exported(row.hit.item, "belongs" if row.hit.belongs else "suggested", view, row.hit))
    return rows + [_exported(name, "rejected", view) for name in view.address.rejected]


def _exported(item: str, status: str, view: View, hit: Hit | None = None) -> dict[str, Any]:
    title = hit.title if hit else view.titles.get(item)
    group = [*hit.group] if hit else next((own for own in view.groups if item in own), [])
    return {"item": item, "title": title, "status": status, "score": hit.score if hit else None, "group": group}


def _options(reading: AnyReading, address: Address, options: Mapping[str, Option] = MODEL) -> dict[str, Any]:
    """Those of some options that the page has, as values."""
    given: dict[str, list[str]] = {}
    for name, value in address.options:
        is_chosen = plain_name(reading.name) == "terms" or reading.defaults.fields
        if name in options and (name != "by" or is_chosen):
            given.setdefault(name, []).append(value)
    return {name: options[name].read(values) for name, values in given.items()}


def _examples(reading: AnyReading, address: Address) -> dict[str, Any]:
    given = {"having": address.having, "like": address.like}
    return _options(reading, address, ALL) | {key: names for key, names in given.items() if names}


def _question(index: Index, reading: AnyReading, address: Address) -> Question:
    """The examples, asked of the set that is open, beside the others of its group, or of the reading."""
    name = address.set if address.set is not None and index.sets().get(address.set) == reading.name else None
    return Question(reading, None if name is None else index.set(name), [*address.seeds], address.rejected)


def _hits(index: Index, reading: AnyReading, address: Address) -> Hits:
    k = HITS[address.size]
    options = _examples(reading, address)
    options |= {"explain": True, "snippets": True, "fold": True, "cut": "mark"}
    hits = with_headlines(reading, _question(index, reading, address).expand(k, **options).shared())
    if address.end is not None:
        hits[:] = [hit._replace(belongs=hit.rank <= address.end) for hit in hits]
    belonging = sum(1 for hit in hits if hit.belongs)
    shown = len(hits) if address.size != "large" else max(LEAST_LARGE, belonging)
    return hits.with_hits(hits[:shown])


def _hit(index: Index, reading: AnyReading, address: Address, item: str) -> Hit:
    """One item as a hit, whether or not it is among the best."""
    options = _examples(reading, address)
    asked = _question(index, reading, address)
    asked = asked._replace(exclude=[name for name in address.rejected if name != item])
    options |= {"filter": (), "among": [item], "keep_seeds": True, "explain": True}
    hits = asked._replace(own=None).expand(1, **options)
    with suppress(NothingToRank):  # another set of the group has it
        hits = asked.expand(1, **options) or hits
    return hits[0]


def _rows(address: Address, hits: list[Hit]) -> list[Row]:
    scale = scale_of(hits)
    following = [*(hit.belongs for hit in hits), None][1:]
    last = max((hit.rank for hit in hits if hit.belongs), default=0)
    return [
        Row(
            hit,
            display_name(hit.item, hit.title),
            score_bars(hit, scale),
            hit.snippet.pieces() if hit.snippet is not None else [],
            [(name, own) for name, value in (hit.columns or {}).items() if (own := _values(address, name, value))],
            hit.rank == last and (after is False or (after is None and address.end is not None)),
        )
        for hit, after in zip(hits, following, strict=True)
    ]


def _values(address: Address, name: str, value: Any) -> list[tuple[str, Address | None]]:
    """The values of a kept column, each with the page of the items that have it too."""
    values = [str(part) for part in (value if isinstance(value, list) else [value]) if part not in (None, "")]
    return [(value, _filtered(address, equality(name, value))) for value in values]


def _filtered(address: Address, condition: str | None) -> Address | None:
    """The page of the items that also meet a condition; None if there is none."""
    if condition is None or len(condition) > LONGEST_FILTER:
        return None
    return address.with_option("filter", condition).replace(end=None)


def scale_of(hits: Sequence[Hit]) -> float:
    """The largest sum of positive reasons: 100 for bars."""
    parts = (hit.reasons or hit.features for hit in hits)
    return max((sum(max(part.weight, 0) for part in own) for own in parts), default=0.0) or 1.0


def score_bars(hit: Hit, scale: float) -> list[Bar]:
    """The reasons of a score, which sum to it."""
    reasons = hit.reasons or [Reason(part.feature, part.weight) for part in hit.features]  # numbers have no reasons
    bars, start = [], 0.0
    for reason in reasons:
        length = min(100.0 * max(reason.weight, 0.0) / scale, 100.0 - start)
        bars.append(Bar(reason.label, reason.weight, round(start, 2), round(length, 2), None, reason.sentence))
        start += length
    return bars


def _shared(reading: AnyReading, address: Address, hits: Hits) -> list[Bar]:
    """What the hits have in common; none for numbers. Terms of documents can be added as examples."""
    can_be_added = reading.kind == "documents"
    heaviest = max((reason.weight for reason in hits.common), default=1.0)
    bars = []
    for label, weight, sentence, features in hits.common:
        with_it = address.replace(having=(*address.having, features[0])) if can_be_added and features else None
        bars.append(Bar(label, weight, 0.0, round(100 * weight / heaviest, 2), with_it, sentence))
    return bars


def _note(reading: AnyReading, address: Address, hits: Hits) -> str | None:
    """A note about the answer."""
    notes = reading.word_notes(address.seeds, **_options(reading, address))
    if hits.groups or hits.beside:
        notes.append(hits.tell_groups())
    if notes:
        return "; ".join(notes)
    if not hits:
        return NOTHING_SHARED
    if hits.untold:
        return without_commands(hits.untold)
    if hits.contexts_revision not in (None, hits.revision):
        return f"by the contexts of write {hits.contexts_revision:,}; the collection is at write {hits.revision:,}"
    return None


def _odd(reading: AnyReading, address: Address) -> str | None:
    """The example that fits much less than the others."""
    if len(address.seeds) < ENOUGH:
        return None
    odd = odd_one(reading.fits(address.seeds, **_options(reading, address)))
    return odd and odd.item


def _other_side(readings: list[dict[str, Any]], name: str) -> str | None:
    """The reading with these items as features."""
    return next((reading["items"] for reading in readings if reading["features"] == name), None)


def _level(weight: float, heaviest: float) -> int:
    """The shade of a mark, 1 to 4; 0 for a weight that is not positive."""
    return 0 if weight <= 0 else min(SHADES, 1 + int(SHADES * weight / heaviest * 0.999))
