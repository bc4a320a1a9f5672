"""Reasons as a person reads them: parts of a score that tell the same are one reason, and small ones are counted.

Forms of one word, by their stem, are one reason, and so are the contexts of a word that have the same content word, the
words that are listed with it, those of its own text, and the users that a film shares with one of the examples.
Function words name nothing: they count among the small ones. The weights of the reasons sum to what the parts sum to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from setsearch.answers.results import Contribution, Reason, display_name
from setsearch.arrays import VALUE_LATTICE
from setsearch.memory.fields import Fields
from setsearch.memory.snapshot import NGRAM
from setsearch.search.meaning import NAME as MEANING
from setsearch.search.weights import NEAR, OWN
from setsearch.storage.ids import plain_name
from setsearch.storage.vectors import ENCODER, LATENT
from setsearch.text.contexts import LISTED, OWN_TEXT
from setsearch.text.function_words import function_words, likely_language, stemmer
from setsearch.text.words import MARKS

REMEMBERED = 1 << 16  # features, and what they are called
MOST = 10  # reasons; what is left of the parts follows as one more
SMALL_SHARE = 0.3  # of a score: what is left is told by its kinds if it is more
NEAREST_NAMED, NAMED = 4, 3  # of the nearest words: reasons of their own, and names in that of the others
MOST_COMMON, LEAST_SHARE = 12, 5  # reasons that hits have in common; one of so many hits has each
PLACE, ANY = "_", "·"
PRIOR, LIKE, EMPTY, TEXTS = "others", "words like it", "function words", "texts"  # kinds
LISTED_WITH, IN_TEXT = "words listed with it", "words in its text"
BESIDE, WORDS, SHARED_BY, SMALL = "words beside it", "words", "shared by", "small words around it"
POPULAR = "popular"
BASE = "base and constant"
PEOPLE = {"user", "person", "people", "reader", "viewer", "customer", "member", "listener", "userid", "user_id"}
ONE = {  # of kinds, singular; what follows is the plural
    LIKE: "word like it",
    BESIDE: "word beside it",
    EMPTY: "function word",
    IN_TEXT: "word in its text",
    LISTED_WITH: "word listed with it",
    WORDS: "word",
    TEXTS: "text",
}

Key = tuple[str, ...]  # the kind of a reason in the plural, and what tells it from others of its kind

SAID = {
    LISTED_WITH: "The word stands in lists with these.",
    IN_TEXT: "A text that has the word as its title has these words.",
}
LISTS: dict[Key, str] = {
    (LIKE,): NEAR,
    (LISTED_WITH,): LISTED,
    (IN_TEXT,): OWN_TEXT,
}  # what stands before the words of a reason


class _Part(NamedTuple):
    key: Key
    label: str
    weight: float
    feature: str
    sentence: str = ""


@dataclass(frozen=True)
class Wording:
    """How the parts of an answer are worded: of which features these are, and the surface forms of stems in pairs.

    `examples`: the titles of the examples that have each feature, if these are people.
    """

    features: str  # the name of the features
    are_words: bool  # whether items are words with contexts
    has_text: bool  # whether features are terms
    language: str | None = None
    source: str | None = None  # of vectors
    forms: Mapping[str, str] | None = None
    examples: Mapping[str, Sequence[str]] | None = None

    @property
    def are_people(self) -> bool:
        """Whether features are people, who have no names for the reader."""
        return are_people(self.features)

    def reasons(self, parts: Sequence[Contribution], rest: float = 0.0) -> tuple[Reason, ...]:
        """The MOST reasons of largest weight, what is left of the parts, and the rest of the score."""
        ranked = self._ranked(parts)
        shown = [own for own in ranked if own[0][0] != EMPTY][:MOST]
        named = {key for key, _ in shown}
        left = [own for own in ranked if own[0] not in named]
        reasons = [reason for _, reason in shown]
        if left:
            reasons.append(_left(left, abs(sum(reason.weight for _, reason in ranked))))
        return (*reasons, Reason(BASE, rest)) if rest else tuple(reasons)

    def common(self, hits: Sequence[Sequence[Contribution]]) -> tuple[Reason, ...]:
        """What hits have in common: the reasons of the mean of their parts, of those that several have."""
        sums: dict[tuple[str, str | None], list[float]] = {}
        for parts in hits:
            for feature, weight, title in parts:
                sums.setdefault((feature, title), []).append(weight)
        least = min(len(hits), max(2, len(hits) // LEAST_SHARE))
        mean = [
            Contribution(feature, sum(weights) / len(hits), title)
            for (feature, title), weights in sums.items()
            if len(weights) >= least
        ]
        ranked = [reason for key, reason in self._ranked(mean) if key[0] not in (EMPTY, PRIOR, LIKE)]
        return tuple(reason for reason in ranked if reason.weight > 0)[:MOST_COMMON]

    def _ranked(self, parts: Sequence[Contribution]) -> list[tuple[Key, Reason]]:
        """The reasons with their keys, the largest first."""
        groups: dict[Key, list[_Part]] = {}
        for part in self._named(parts):
            groups.setdefault(part.key, []).append(part)
        return _scaled(_sorted(map(_reason, groups.values())), sum(part.weight for part in parts))

    def _named(self, parts: Sequence[Contribution]) -> list[_Part]:
        labels = [self._label(part) for part in parts]
        words = {word for label in labels for word in label.split(" ")}
        language = self.language or likely_language(words)
        priors = {OWN, MEANING} if self.has_text else {OWN, MEANING, POPULAR}  # "popular" is a term of texts
        named = [
            self._prior(part) if part.feature in priors else self._part(part, label, language)
            for part, label in zip(parts, labels, strict=True)
        ]
        near = sorted((part for part in named if part.key[0] == LIKE), key=lambda part: -abs(part.weight))
        others = {part.feature for part in near[NEAREST_NAMED:]}
        named = [part._replace(key=(LIKE,)) if part.feature in others else part for part in named]
        return _by_content(named)

    def _label(self, part: Contribution) -> str:
        """A feature as people wrote it; stems of a pair by their surface forms."""
        label, forms = display_name(part.feature, part.title), self.forms or {}
        return " ".join(forms.get(word, word) for word in label.split(" ")) if self.has_text and forms else label

    def _prior(self, part: Contribution) -> _Part:
        label, sentence = part.feature, ""
        if part.feature == POPULAR:
            sentence = f"Many {self.features} have it."
        if part.feature == MEANING and self.source != ENCODER:
            label, sentence = self._by_vectors()
        return _Part((PRIOR, label), label, part.weight, part.feature, sentence)

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

    def _part(self, part: Contribution, label: str, language: str) -> _Part:
        weight, feature = part.weight, part.feature
        if feature.startswith(NEAR):
            return _Part((LIKE, feature), label, weight, feature, "It is used like this word.")
        if self.are_words or self.has_text:
            key, label, sentence = (_context if self.are_words else _term)(label, language)
            return _Part(key, label, weight, feature, sentence)
        if self.are_people:
            kind = f"{SHARED_BY} {self.features.removesuffix('s')}s"
            return _Part((kind, *(self.examples or {}).get(feature, ())), label, weight, feature)
        return _Part((self.features, feature), label, weight, feature)


@lru_cache(REMEMBERED)
def _term(label: str, language: str) -> tuple[Key, str, str]:
    """A term of a text, two of them, or an n-gram: key, label and sentence."""
    if label.startswith(NGRAM):
        return ("pieces of words",), "pieces of words", ""
    words, empty, stem = label.split(" "), function_words(language), stemmer(language)
    content = [word for word in words if word.lower() not in empty]
    if not content or len(words) == len(label) == 1:
        return (EMPTY,), label, ""
    return (WORDS, *(stem(word.lower()) for word in content)), " ".join(content), ""


@lru_cache(REMEMBERED)
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


def _by_content(parts: Iterable[_Part]) -> list[_Part]:
    """The parts, where each context, pair, and person belongs to the one of its words, or examples, of most weight."""
    parts, totals = list(parts), dict[str, float]()
    for part in parts:
        for word in {*part.key[1:]} if _has_content(part.key) else ():
            totals[word] = totals.get(word, 0.0) + abs(part.weight)
    return [
        part._replace(key=(part.key[0], max(part.key[1:], key=lambda word: (totals[word], word))))
        if len(part.key) > 2 and _has_content(part.key)
        else part
        for part in parts
    ]


def _has_content(key: Key) -> bool:
    return key[0] in (BESIDE, WORDS) or key[0].startswith(SHARED_BY)


def _reason(own: Sequence[_Part]) -> tuple[Key, Reason]:
    """The reason of parts that tell the same, named by the one that weighs most."""
    if own[0].key[0].startswith(SHARED_BY):
        return own[0].key, _shared_by(own)
    if len(own) == 1:
        ((key, label, weight, feature, said),) = own
        return key, Reason(label, weight, sentence(label) if key[0] == BESIDE else said, (feature,))
    first = max(own, key=lambda part: abs(part.weight))
    features = tuple(part.feature for part in sorted(own, key=lambda part: -abs(part.weight)))
    label = _label_of_several(first, features)
    said = sentence(label) if first.key[0] == BESIDE else first.sentence
    return first.key, Reason(label, sum(part.weight for part in own), said, features)


def _shared_by(own: Sequence[_Part]) -> Reason:
    """The reason of people who have the item and an example, if one is known."""
    kind, *examples = own[0].key
    who = own[0].label if len(own) == 1 else f"{len(own):,} {kind.removeprefix(SHARED_BY).strip()}"
    label = " ".join(["shared", *(f"with {example}" for example in examples), f"by {who}"])
    features = tuple(part.feature for part in sorted(own, key=lambda part: -abs(part.weight)))
    return Reason(label, sum(part.weight for part in own), features=features)


def _label_of_several(first: _Part, features: Sequence[str]) -> str:
    """The label of some parts: of texts their number, of words the first ones, else that of the first."""
    if first.key == (TEXTS,):
        return f"in {len(features):,} of the same texts"
    prefix = LISTS.get(first.key)
    if prefix is None:
        return first.label
    names = [feature.removeprefix(prefix) for feature in features]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return prefix + ", ".join(names[:NAMED]) + more


def _scaled(ranked: list[tuple[Key, Reason]], total: float) -> list[tuple[Key, Reason]]:
    """The reasons times the factor of the item, if it has one: what a word is near to multiplies all it shares.

    The part of this factor, OWN, is distributed in proportion; rounding goes to the largest reason.
    """
    added = sum(reason.weight for key, reason in ranked if key == (PRIOR, OWN))
    shared = sum(reason.weight for key, reason in ranked if key[0] not in (PRIOR, LIKE))
    if not added or not shared:
        return ranked
    scaled = [
        (key, reason if key[0] in (PRIOR, LIKE) else reason._replace(weight=_rounded(reason.weight, added / shared)))
        for key, reason in ranked
        if key != (PRIOR, OWN)
    ]
    key, largest = scaled[0]
    missing = total - sum(reason.weight for _, reason in scaled)
    scaled[0] = key, largest._replace(weight=largest.weight + missing)
    return _sorted(scaled)


def _sorted(reasons: Iterable[tuple[Key, Reason]]) -> list[tuple[Key, Reason]]:
    return sorted(reasons, key=lambda own: (-abs(own[1].weight), own[1].label))


def _rounded(weight: float, share: float) -> float:
    """A weight and a share of it, so that sums stay exact."""
    return weight + round(weight * share * VALUE_LATTICE) / VALUE_LATTICE


def _left(left: Sequence[tuple[Key, Reason]], total: float) -> Reason:
    """What is left of the parts: how many there are, and of which kinds if they are much of the score."""
    weight = sum(reason.weight for _, reason in left)
    features = tuple(feature for _, reason in left for feature in reason.features)
    counts: dict[str, int] = {}
    for key, reason in left:
        counts[key[0]] = counts.get(key[0], 0) + (len(reason.features) if key[0] in (EMPTY, TEXTS) else 1)
    if abs(weight) <= SMALL_SHARE * total:
        return Reason(f"{sum(counts.values()):,} more", weight, features=features)
    kinds = (
        kind if kind == SMALL else f"{count:,} {ONE.get(kind, kind) if count == 1 else kind}"
        for kind, count in sorted(counts.items(), key=lambda own: -own[1])
    )
    return Reason(f"many small parts ({', '.join(kinds)})", weight, features=features)


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
    has_text = not are_words and analyzer is not None and not fields.first.snapshot.transposed
    language = analyzer.language if analyzer is not None else None
    source = fields.vectors().source if fields.vectors is not None else None
    forms: dict[str, str] = {}
    if has_text and language is not None:
        names = {part.feature for own in parts for part in own}
        stems = sorted({stem for name in names if " " in name for stem in name.split(" ")})
        ids = fields.first.find_features(stems)
        described = fields.first.describe_features(sorted(ids.values()))
        forms = {stem: display_name(*described[id]) for stem, id in ids.items()}
    how = Wording(plain_name(features.name), are_words, has_text, language, source, forms)
    return replace(how, examples=_having(fields, parts, examples)) if how.are_people and not has_text else how


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
