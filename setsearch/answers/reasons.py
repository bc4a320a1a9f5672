"""Reasons as a person reads them: parts of a score that tell the same are one reason, and small ones are counted.

Forms of one word, by their stem, are one reason, and so are the contexts of a word that have the same content word, the
words that are listed with it, those of its own text, and the users that a film shares with the same examples.
Function words name nothing: they count among the small ones. The weights of the reasons sum to what the parts sum to.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from setsearch.answers.results import Contribution, Reason, display_name
from setsearch.arrays import VALUE_LATTICE
from setsearch.memory.field import NGRAM
from setsearch.memory.fields import Fields
from setsearch.search.meaning import NAME as MEANING
from setsearch.search.weights import NEAR, OWN, RIVAL
from setsearch.storage.feature_fields import MARK
from setsearch.storage.ids import plain_name
from setsearch.storage.kept.vectors import ENCODER, LATENT
from setsearch.text.contexts import LISTED, OWN_TEXT
from setsearch.text.function_words import function_words, likely_language, stemmer
from setsearch.text.words import MARKS

MOST = 10  # reasons; what is left of the parts follows as one more
SMALL_SHARE = 0.3  # of a score: what is left is told by its kinds if it is more
NEAREST_NAMED, NAMED = 4, 3  # of the nearest words: reasons of their own, and names in that of the others
MOST_COMMON, LEAST_SHARE = 12, 5  # reasons that hits have in common; one of so many hits has each
MOST_SHARING = 2  # examples that are named of those that a person shares with an item
PLACE, ANY = "_", "·"
PRIOR, LIKE, EMPTY, TEXTS = "others", "words like it", "function words", "texts"  # kinds
LISTED_WITH, IN_TEXT = "words listed with it", "words in its text"
BESIDE, WORDS, SHARED_BY, SMALL = "words beside it", "words", "shared by", "small words around it"
POPULAR = "popular"
FIELD, NUMBER = "fields", "numbers"  # kinds: what is shared of a field, by its name, and that numbers are near
BASE = "base and constant"
PEOPLE = {"user", "person", "people", "reader", "viewer", "customer", "member", "listener", "userid", "user_id"}
ONE = {  # of kinds, singular; what follows is the plural
    LIKE: "word like it",
    BESIDE: "word beside it",
    EMPTY: "function word",
    FIELD: "field",
    NUMBER: "number",
    IN_TEXT: "word in its text",
    LISTED_WITH: "word listed with it",
    WORDS: "word",
    TEXTS: "text",
}

Key = tuple[str, ...]  # the kind of a reason in the plural, and what tells it from others of its kind

NEAR_NUMBERS = "It is near the examples in this number."
SAID = {
    LISTED_WITH: "The word stands in lists with these.",
    IN_TEXT: "A text that has the word as its title has these words.",
}
LISTS: dict[Key, str] = {
    (LIKE,): NEAR,
    (LISTED_WITH,): LISTED,
    (IN_TEXT,): OWN_TEXT,
}  # what stands before the words of a reason


Said = tuple[str, tuple[str, ...], str]  # a label, features, and a sentence
Told = tuple[Key, Said]  # what a feature tells of every item that has it: the key of its reason, and what it says
Row = tuple[Key, float, Said]  # the same of several that tell the same, and their weight


class Wording(NamedTuple):
    """How the parts of an answer are worded: of which features these are, and the surface forms of stems in pairs.

    `examples`: the titles of the examples that have each feature, if these are people. `fields`: the fields beside the
    first one, and whether each has numbers.
    """

    features: str  # the name of the features
    are_words: bool  # whether items are words with contexts
    has_text: bool  # whether features are terms
    language: str | None = None
    source: str | None = None  # of vectors
    forms: Mapping[str, str] | None = None
    examples: Mapping[str, Sequence[str]] | None = None
    fields: tuple[tuple[str, bool], ...] = ()

    @property
    def are_people(self) -> bool:
        """Whether features are people, who have no names for the reader."""
        return are_people(self.features)

    def reasons(self, parts: Sequence[Contribution], rest: float = 0.0) -> tuple[Reason, ...]:
        """The MOST reasons of largest weight, what is left of the parts, and the rest of the score."""
        shown, left = self._ranked(parts), list[Row]()
        total = abs(sum([weight for _, weight, _ in shown]))
        small = [own for own in shown if own[0][0] == EMPTY]
        if small or len(shown) > MOST:
            telling = [own for own in shown if own[0][0] != EMPTY]
            shown, left = telling[:MOST], telling[MOST:]
            left = _sorted([*small, *left]) if small and left else left or small
        reasons = _shown(shown)
        if left:
            reasons.append(_left(left, total))
        return (*reasons, Reason(BASE, rest)) if rest else tuple(reasons)

    def common(self, hits: Sequence[Sequence[Contribution]]) -> tuple[Reason, ...]:
        """What hits have in common: the reasons of the mean of their parts, of those that several have."""
        sums: dict[tuple[str, str | None], list[float]] = {}
        for feature, weight, title in chain.from_iterable(hits):
            sums.setdefault((feature, title), []).append(weight)
        least = min(len(hits), max(2, len(hits) // LEAST_SHARE))
        of_several = [(*feature, sum(own) / len(hits)) for feature, own in sums.items() if len(own) >= least]
        mean = [Contribution(feature, weight, title) for feature, title, weight in of_several]
        ranked = [own for own in self._ranked(mean) if own[1] > 0 and own[0][0] not in (EMPTY, PRIOR, LIKE)]
        return tuple(_shown(ranked[:MOST_COMMON]))

    def _ranked(self, parts: Sequence[Contribution]) -> list[Row]:
        """What is told of the parts, those that tell the same together, the largest first."""
        weights, told = [weight for _, weight, _ in parts], self._tell_all(parts)
        firsts: dict[Key, int] = {}
        several: dict[Key, list[int]] = {}
        for place, key in enumerate(_keys(told, weights)):
            if (first := firsts.setdefault(key, place)) != place:
                several.setdefault(key, [first]).append(place)
        may_be_shared = self.are_people
        ranked = _sorted(
            [
                _joined(key, several.get(key, [first]), told, weights)
                if key in several or may_be_shared
                else (key, weights[first], told[first][1])
                for key, first in firsts.items()
            ]
        )
        return _scaled(ranked, sum(weights)) if (PRIOR, OWN) in firsts else ranked

    def _tell_all(self, parts: Sequence[Contribution]) -> list[Told]:
        """What the features of parts tell, in the language of most of their words."""
        labels = [feature if title is None else display_name(feature, title) for feature, _, title in parts]
        language = self.language
        if language is None:
            text = " ".join(labels)
            language = likely_language(labels if text.count(" ") < len(labels) else text.split(" "))
        return [self._told(feature, label, language) for (feature, *_), label in zip(parts, labels, strict=True)]

    def _prior(self, feature: str) -> tuple[str, str]:
        """Label and sentence of what is told of items beside their features."""
        if feature == MEANING and self.source != ENCODER:
            return self._by_vectors()
        return feature, f"Many {self.features} have it." if feature == POPULAR else ""

    def _by_vectors(self) -> tuple[str, str]:
        """What vectors say that are not those of an encoder."""
        if self.source != LATENT:
            return "near by its vector", "Its vector lies near those of the examples."
        if self.are_people:
            return "liked by the same people", "Those who like the examples, and others like them, like it."
        if self.are_words:
            return "used like them overall", "By all its contexts together the word is used like the examples."
        if self.has_text:
            return "about the same overall", "By all its words together the text is like the examples."
        return f"much the same {self.features}", f"By all {self.features} together it is like the examples."

    def _told(self, feature: str, label: str, language: str) -> Told:
        if self.has_text and self.forms:  # stems of a pair by their surface forms
            label = " ".join([self.forms.get(word, word) for word in label.split(" ")])
        own, (name, mark, rest) = (feature,), feature.partition(MARK)
        has_numbers = dict(self.fields).get(name) if mark else None
        if has_numbers is not None:
            kind = NUMBER if has_numbers else FIELD
            return (kind, name), (f"{name}: {rest}", own, NEAR_NUMBERS * has_numbers)
        is_popular = feature == POPULAR and not self.has_text  # "popular" is a term of texts
        if feature in (OWN, MEANING, RIVAL) or is_popular:
            label, said = self._prior(feature)
            return (PRIOR, label), (label, own, said)
        if feature.startswith(NEAR):
            return (LIKE, feature), (label, own, "It is used like this word.")
        if self.are_words or self.has_text:
            key, label, said = (_context if self.are_words else _term)(label, language)
            return key, (label, own, said)
        if self.are_people:
            kind = f"{SHARED_BY} {_without_id(self.features.removesuffix('s'))}s"
            names = (self.examples or {}).get(feature, ())
            who = [f"{len(names)} of the examples"] if len(names) > MOST_SHARING else names
            return (kind, *who), (label, own, "")
        return (self.features, feature), (label, own, "")


def _term(label: str, language: str) -> tuple[Key, str, str]:
    """A term of a text, two of them, or an n-gram: key, label and sentence."""
    if label.startswith(NGRAM):
        return ("pieces of words",), "pieces of words", ""
    words, empty, stem = label.split(" "), function_words(language), stemmer(language)
    content = [word for word in words if word.lower() not in empty]
    if not content or len(words) == len(label) == 1:
        return (EMPTY,), label, ""
    return (WORDS, *[stem(word.lower()) for word in content]), " ".join(content), ""


def _context(label: str, language: str) -> tuple[Key, str, str]:
    """A context, or a document, of a word; `_by_content` chooses among the content words of its key."""
    small, empty = ((SMALL,), SMALL, "The same small words and marks stand around it."), function_words(language)
    for prefix, kind in ((LISTED, LISTED_WITH), (OWN_TEXT, IN_TEXT)):
        if label.startswith(prefix):
            return small if label.removeprefix(prefix) in empty else ((kind,), label, SAID[kind])
    places = label.split(" ")
    if PLACE not in places:
        return (TEXTS,), f"in “{label}”", "It is in texts that have examples."
    content = [word for word in places if word not in (PLACE, ANY, *MARKS) and word not in empty]
    return ((BESIDE, *map(stemmer(language), content)), label, "") if content else small


def _keys(told: Sequence[Told], weights: Sequence[float]) -> list[Key]:
    """The keys of parts, where the least of the nearest words have one.

    Each context and pair belongs to the one of its words of most weight, each person to all examples shared.
    """
    keys, totals = [own[0] for own in told], dict[str, float]()
    if LIKE in [key[0] for key in keys]:
        near = [place for place, key in enumerate(keys) if key[0] == LIKE]
        for place in sorted(near, key=lambda place: -abs(weights[place]))[NEAREST_NAMED:]:
            keys[place] = (LIKE,)
    if max(map(len, keys), default=0) <= 2:
        return keys
    for key, weight in zip(keys, weights, strict=True):
        for word in {*key[1:]} if _has_content(key) else ():
            totals[word] = totals.get(word, 0.0) + abs(weight)
    return [
        (key[0], max(key[1:], key=lambda word: (totals[word], word))) if len(key) > 2 and _has_content(key) else key
        for key in keys
    ]


def _has_content(key: Key) -> bool:
    return key[0] in (BESIDE, WORDS)


def _joined(key: Key, places: list[int], told: Sequence[Told], weights: Sequence[float]) -> Row:
    """What parts that tell the same tell together, named by the one that weighs most."""
    weight, places = sum([weights[place] for place in places]), sorted(places, key=lambda place: -abs(weights[place]))
    label, _, said = told[places[0]][1]
    features = tuple([told[place][1][1][0] for place in places])
    if key[0].startswith(SHARED_BY):
        who = label if len(places) == 1 else f"{len(places):,} {key[0].removeprefix(SHARED_BY).strip()}"
        shared = f"shared with {' and '.join(key[1:])}" if key[1:] else "shared"
        return key, weight, (f"{shared} by {who}", features, "")
    return key, weight, (_label_of_several(key, label, features) if len(places) > 1 else label, features, said)


def _shown(rows: Iterable[Row]) -> list[Reason]:
    """Rows as reasons; what a context says is told of these alone."""
    return [
        Reason(label, weight, sentence(label) if key[0] == BESIDE else said, features)
        for key, weight, (label, features, said) in rows
    ]


def _label_of_several(key: Key, label: str, features: Sequence[str]) -> str:
    """The label of some parts: of texts their number, of words the first ones, else that of the first."""
    if key == (TEXTS,):
        return f"in {len(features):,} of the same texts"
    prefix, begin = LISTS.get(key), LISTS.get(key)
    if key[0] == FIELD:
        prefix, begin = f"{key[1]}: ", key[1] + MARK
    if prefix is None or begin is None:
        return label
    names = [feature.removeprefix(begin) for feature in features]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return prefix + ", ".join(names[:NAMED]) + more


def _scaled(ranked: list[Row], total: float) -> list[Row]:
    """What is told times the factor of the item, if it has one: what a word is near to multiplies all it shares.

    The part of this factor, OWN, is distributed in proportion; rounding goes to the largest one.
    """
    added = sum(weight for key, weight, _ in ranked if key == (PRIOR, OWN))
    shared = sum(weight for key, weight, _ in ranked if key[0] not in (PRIOR, LIKE))
    if not added or not shared:
        return ranked
    share = added / shared * VALUE_LATTICE  # rounded, so that sums stay exact
    scaled = [
        (key, weight if key[0] in (PRIOR, LIKE) else weight + round(weight * share) / VALUE_LATTICE, said)
        for key, weight, said in ranked
        if key != (PRIOR, OWN)
    ]
    missing = total - sum(weight for _, weight, _ in scaled)
    scaled[0] = (scaled[0][0], scaled[0][1] + missing, scaled[0][2])
    return _sorted(scaled)


def _sorted(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda own: (-abs(own[1]), own[2][0]))


def _left(left: Sequence[Row], total: float) -> Reason:
    """What is left of the parts: how many there are, and of which kinds if they are much of the score."""
    weight = sum([weight for _, weight, _ in left])
    features = tuple([feature for _, _, (_, own, _) in left for feature in own])
    counts: dict[str, int] = {}
    for key, _, (_, own, _) in left:
        counts[key[0]] = counts.get(key[0], 0) + (len(own) if key[0] in (EMPTY, TEXTS) else 1)
    if abs(weight) <= SMALL_SHARE * total:
        return Reason(f"{sum(counts.values()):,} more", weight, "", features)
    kinds = (
        kind if kind == SMALL else f"{count:,} {ONE.get(kind, kind) if count == 1 else kind}"
        for kind, count in sorted(counts.items(), key=lambda own: -own[1])
    )
    return Reason(f"many small parts ({', '.join(kinds)})", weight, features=features)


def _without_id(name: str) -> str:
    """What a column of ids is of: user of userId."""
    return name[:-2].rstrip("_") if name.lower().endswith("id") and len(name) > 2 else name


def are_people(features: str) -> bool:
    """Whether features of this name are people."""
    return features.lower().removesuffix("s") in PEOPLE


def sentence(label: str) -> str:
    """What a context says of a word."""
    parts = label.split(" ")
    if PLACE not in parts:
        return ""
    place = parts.index(PLACE)
    before, after = (" ".join(part.replace(ANY, "…") for part in own) for own in (parts[:place], parts[place + 1 :]))
    if before and after:
        return f"The word stands between “{before}” and “{after}”."
    return f"The word stands after “{before}”." if before else f"The word stands before “{after}”."


def wording(fields: Fields, parts: Iterable[Sequence[Contribution]], examples: Sequence[int] = ()) -> Wording:
    """How the parts of the scores of some items are worded, given the ids of the examples."""
    analyzer, features = fields.analyzer, fields.first.features
    are_words = fields.contexts_revision is not None
    has_text = not are_words and analyzer is not None and not fields.first.transposed
    language = analyzer.language if analyzer is not None else None
    source = fields.vectors().source if fields.vectors is not None else None
    forms: dict[str, str] = {}
    if has_text and language is not None:
        names = {part.feature for own in parts for part in own}
        stems = sorted({stem for name in names if " " in name for stem in name.split(" ")})
        ids = fields.first.find_features(stems)
        described = fields.first.describe_features(sorted(ids.values()))
        forms = {stem: display_name(*described[id]) for stem, id in ids.items()}
    others = () if are_words or fields.first.transposed else fields.relation.fields
    kinds = tuple((own.name, own.ends is not None) for own in others)
    kind = plain_name(features.name), are_words, has_text, language, source
    having = _having(fields, parts, examples) if are_people(kind[0]) and not has_text else None
    return Wording(*kind, forms, having, kinds)


def _having(fields: Fields, parts: Iterable[Sequence[Contribution]], examples: Sequence[int]) -> dict[str, list[str]]:
    """The titles of the examples that have each feature of the parts."""
    field, titles = fields.first, {id: display_name(*own) for id, own in fields.describe(sorted(examples)).items()}
    names = {id: name for name, id in field.find_features({part.feature for own in parts for part in own}).items()}
    having: dict[str, list[str]] = {}
    entries = field.read_forward(sorted(examples))
    for item, feature in zip(entries.lists.tolist(), entries.ids.tolist(), strict=True):
        if feature in names:
            having.setdefault(names[feature], []).append(titles[item])
    return having
