"""Fields: groups of features of the same items, within one transaction. The scores of several fields are added."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Ints, to_lattice
from setsearch.errors import HINTS, InvalidParameter, UnknownItem, did_you_mean, shown
from setsearch.memory.contexts.word_contexts import WordUses
from setsearch.memory.field import Field
from setsearch.memory.vectors import Vectors
from setsearch.memory.where import Where
from setsearch.models import Model
from setsearch.options import Id
from setsearch.scoring.best import Base
from setsearch.scoring.smoothing import Neighbors
from setsearch.storage.ids import id_text
from setsearch.storage.kept.columns import Values
from setsearch.storage.name_search import Descriptions
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation
from setsearch.text.analyzer import Analyzer
from setsearch.text.words import without_marks

LONGEST_PHRASE = 4  # words (text/token_stream.py)


class Fields(NamedTuple):
    """The fields of a query. All have the same items; the first one names and orders them.

    `relation` is the stored one in this transaction; `analyzer` turns text into names of terms. `contexts_revision` is
    the revision that contexts were derived from, None for fields without contexts.
    """

    all: tuple[Field, ...]
    relation: Relation
    analyzer: Analyzer | None
    contexts_revision: int | None = None
    stored: "Fields | None" = None  # by documents, where words without contexts are looked up
    vectors: Callable[[], Vectors] | None = None  # None if items have none
    nearest: Callable[[], Neighbors] | None = None  # None if items have no neighbors
    uses: WordUses | None = None  # of words with contexts
    phrases: Vocabulary | None = None  # of contexts, among which is what somebody may have meant by no word

    @property
    def first(self) -> Field:
        """The field that names the items."""
        return self.all[0]

    @property
    def items(self) -> Vocabulary:
        """What is ranked."""
        return self.first.items

    @property
    def cursor(self) -> sqlite3.Cursor:
        """What reads, within the transaction."""
        return self.first.cursor

    def item_ids(self) -> Ints:
        """The ids of all items, ascending."""
        return np.fromiter(self.items.ids(), np.int64)

    def ranks(self, ids: Ints) -> Ints:
        """The positions of items in the order of names, or other numbers in this order, `(n_ids,)`."""
        return self.first.ranks(ids)

    def in_order(self) -> Iterable[int]:
        """The ids of all items in the order of names."""
        return self.items.ids(by_name=True)

    def describe(self, ids: Sequence[int]) -> Descriptions:
        """(name, title) of items."""
        return self.first.describe(ids)

    def base(self, model: Model, n_seeds: float) -> Base:
        """What every item scores before the seeds are known: the sum over the fields."""
        if len(self.all) == 1:
            return self.first.base(model, n_seeds)

        def add() -> Base:
            bases = [(field.coefficient, field.base(model, n_seeds)) for field in self.all]
            scale = min(base.scale for _, base in bases)
            items = [
                to_lattice(base.items, model.rule.binary, coefficient * (scale / base.scale))
                for coefficient, base in bases
            ]
            return Base(np.sum(items, axis=0), sum(coefficient * base.constant for coefficient, base in bases), scale)

        key = ("sum", model, n_seeds, *(field.coefficient for field in self.all))
        return self.first.kept_bases.get_or_make(key, add)

    @property
    def has_phrases(self) -> bool:
        """Whether terms may have phrases beside them, which are items of the contexts only."""
        return self.first.transposed and self.relation.has_phrases

    @property
    def encodes(self) -> bool:
        """Whether texts get vectors, so that they need not share a word with the collection."""
        return self.vectors is not None and self.vectors().encodes

    def knows(self, name: Id) -> bool:
        """Whether an item has this name."""
        return self.find(name) is not None

    def find(self, name: Id) -> int | None:
        """The id of an item by its name, or by the name as the analyzer writes it."""
        name = id_text(name)
        return self.find_all([name]).get(name) if isinstance(name, str) else None

    def resolve(self, name: Id, hint: bool = True) -> int:
        """The id of an item: by name, by the name as the analyzer writes it, or by a unique title."""
        id = self.find(name)
        if id is not None:
            return id
        name = id_text(name)
        way_out = self._meant(name) or self._way_out(name) if hint and isinstance(name, str) else ""
        try:
            return self.items.resolve(name, hint and not way_out, self.first.total)
        except UnknownItem:
            if not way_out:
                raise
            raise UnknownItem(
                f"no {shown(name)} among the {self.items.own_size():,} {self.items.name}{way_out}"
            ) from None

    def _meant(self, name: str) -> str:
        """A question that offers the name without a comma, or phrases one edit away; empty if there are none."""
        bare = name.strip(" ,;")  # names may be typed as a list
        if bare != name and self.knows(bare):
            return f"; {did_you_mean([bare])}"
        if self.phrases is None:
            return ""
        near = self.phrases.describe(self.phrases.one_edit_away(name))
        meant = did_you_mean(own for own, _ in near.values() if " " in own)
        return f"; {meant}" if meant else ""

    def _longer_names(self, name: str) -> list[str]:
        """The first items with a name before the ending of a file, in any folder, or before a colon of the title."""
        ids = [*self.items.starting_with(f"{name}.", HINTS), *self.items.containing(f"/{name}.")]
        names = {own for own, _ in self.describe(ids).values()}
        begin = f"{name}.".casefold()
        names = {own for own in names if own.rpartition("/")[2].casefold().startswith(begin)}
        names |= {own for own, _ in self.describe(self.items.starting_with(f"{name}: ", HINTS)).values()}
        return sorted(names)[:HINTS]

    def _way_out(self, name: str) -> str:
        """What to do about the name of no item, if it is known otherwise; else empty."""
        other = self.all[-1].features  # of terms: the documents
        forms = [name]
        if self.analyzer is not None and self.analyzer.is_available and self.have_columns:
            terms = [*self.analyzer.terms(name)]
            forms += terms if len(terms) == 1 else []
        called = [own for form in forms for _, own in other.called(form) if own.casefold() == form.casefold()]
        if called or any(other.find_one(form) is not None for form in forms):
            ways = [f"rank the {other.name} with `items={other.name}`"]
            if self.have_columns and self.first.takes_features:
                text = ", or by a text with `like`" if self.analyzer is not None else ""
                ways.insert(0, f"find {self.items.name} by `having={name}`{text}")
                longer = self._longer_names(name)
                ways[:0] = [f"name {' or '.join(longer)}"] if longer else []
            return f", but it is one of the {other.name}; {'; or '.join(ways)}"
        has_terms = self.analyzer is not None and self.analyzer.is_available
        words = name.split() if "," not in name else []  # several names in one text
        if self.analyzer is not None and has_terms and len(words) == 1:
            words = [*self.analyzer.terms(name)]
            if not self.have_columns and len(words) > 1 and " " not in self.analyzer.words.phrase(" ".join(words)):
                pairs = " ".join(words[:HINTS]) + " ..." * (len(words) > HINTS)
                are = f": of this script terms are pairs of characters ({pairs})"
                return f"{are}; texts that are indexed with `analyzer=icu` have whole words"
        if has_terms and self.first.transposed and not self.relation.has_phrases and len(words) > 1:
            return "; phrases are among them where texts were indexed with `--phrases`"
        are_terms = self.relation.has_phrases and not self.have_columns
        if are_terms and len(words) > 1 and self.relation.may_be_given_contexts:
            return "; phrases are among them where texts were indexed with `contexts`"
        if are_terms and 1 < len(words) <= LONGEST_PHRASE and all(map(self.knows, words)):
            return f": its words are, but not as a phrase; give each by itself: {' '.join(words)}"
        return ""

    def resolve_all(self, names: Sequence[str]) -> list[int]:
        """The distinct ids of items, in the order of the names."""
        known = self.first.find_all(names)
        return list(dict.fromkeys([known[name] if name in known else self.resolve(name) for name in names]))

    def without_contexts(self, names: Sequence[str]) -> dict[str, int]:
        """The words that have no contexts, with their stored ids; raises UnknownItem, AmbiguousItem."""
        if self.stored is None:
            return {}
        stored, known = self.stored._replace(phrases=self.items), self.find_all(names)
        return {name: stored.resolve(name) for name in names if name not in known}

    def counted_documents(self, id: int) -> dict[str, int]:
        """The documents of a word without contexts, by its stored id, with their counts."""
        stored = self.stored
        assert stored is not None
        entries = stored.first.read_forward([id])
        return stored.named_counts(stored.first.features, entries.ids, entries.counts)

    def resolve_known(self, names: Iterable[str]) -> list[int]:
        """The distinct ids of those names that exist, in the order of the items' names."""
        ids = {self.resolve(name) for name in names if self.knows(name)}
        described = self.describe(sorted(ids))
        return sorted(ids, key=lambda id: described[id][0])

    def named_counts(self, vocabulary: Vocabulary, ids: Ints, counts: Ints) -> dict[str, int]:
        """Counts by name, in the order of the names."""
        names = vocabulary.describe(ids.tolist())
        return dict(sorted((names[id][0], count) for id, count in zip(ids.tolist(), counts.tolist(), strict=True)))

    def allowed(self, among: Sequence[str] | Where | None, filter: Sequence[str]) -> Ints | None:
        """The only items to return, ascending; None for all. Raises InvalidParameter, TimeLimitExceeded, Cancelled."""
        ids = None
        if isinstance(among, Where):
            ids = among.ids(self.relation, self.items.name)
        elif among is not None:
            ids = np.array(sorted({*self.find_all(among).values()}), np.int64)
        if not filter:
            return ids
        if not self.have_columns:
            raise InvalidParameter(f"a filter applies to columns that were kept of documents, not to {self.items.name}")
        key = tuple(filter)
        met = self.first.content.columns.find(self.relation, key)
        return met if ids is None else np.intersect1d(ids, met)

    def count_terms(self, text: str) -> Mapping[str, int]:
        """The counted terms of a text that the index does not hold; raises UnknownItem if it knows none of them."""
        is_document = not self.first.transposed and self.analyzer is not None and len(self.all) == 1
        if not isinstance(text, str) or not is_document or self.analyzer is None:
            raise InvalidParameter(f"a text is an example of documents, not of {self.items.name} (given: {text!r:.40})")
        terms = self.analyzer(text)
        counts = terms if isinstance(terms, Mapping) else Counter(terms)
        if not self.first.find_features(counts) and not self.encodes:
            raise UnknownItem(f"the text {text!r:.60} has no word that the index knows; give another one")
        return counts

    def resolve_features(self, names: Sequence[str]) -> Mapping[str, int]:
        """Features as an example that has just these; raises UnknownItem."""
        vocabulary = self.first.features
        is_text = self.analyzer is not None and self.analyzer.is_available and not self.first.transposed
        others, counts = tuple(own.prefix for own in self.relation.fields), {}
        for name in names:
            is_term = is_text and not name.startswith(others)
            forms = [name, *(self.analyzer.terms(name) if self.analyzer and is_term else ())]
            known = [form for form in forms if vocabulary.find_one(form) is not None]
            if not known:
                every = replace(vocabulary, others=()).within(self.cursor) if vocabulary.others else vocabulary
                hint = every.hint(name)
                among = f"no {name!r} among the {vocabulary.size:,} {vocabulary.name}"
                raise UnknownItem(f"{among}{'; ' * bool(hint)}{hint}")
            counts[known[0]] = 1
        return counts

    @property
    def have_columns(self) -> bool:
        """Whether columns may have been kept of the items: of words none are."""
        return not self.all[0].transposed and self.contexts_revision is None

    @property
    def are_documents(self) -> bool:
        """Whether items are texts: other items that share all their features are not the same thing."""
        return self.relation.analyzer is not None and self.have_columns

    def columns_of(self, ids: Sequence[int]) -> Mapping[int, Values]:
        """The columns that were kept of documents."""
        if not self.have_columns:
            return {}
        return self.first.content.columns.of(self.relation, ids)

    def find_all(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist, as they are or as items are written; few look-ups for all."""
        found = self.first.find_all(names)
        if len(found) < len(names) and self._have_forms:
            forms = {name: [*self.forms(name)] for name in names if name not in found}
            known = self.first.find_all([form for own in forms.values() for form in own])
            firsts = ((name, next((form for form in own if form in known), None)) for name, own in forms.items())
            found |= {name: known[form] for name, form in firsts if form is not None}
        return found

    @property
    def _have_forms(self) -> bool:
        return self.analyzer is not None and self.analyzer.is_available and not self.have_columns

    def forms(self, name: str) -> Iterator[str]:
        """A name as items are written: terms by the analyzer, words of contexts in lower case."""
        if self.analyzer is None or not self._have_forms:
            return
        if self.contexts_revision is not None:
            forms = without_marks(self.analyzer.words.tokens(name))
            yield " ".join(forms)
            if self.analyzer.has_stems:
                yield from self.first.inflections(forms, self.analyzer.stem)
        elif len(terms := self.analyzer.terms(name)) == 1:
            yield terms[0]
