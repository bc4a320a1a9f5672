"""References as items: which item of a collection a reference is, and what is kept of it.

A new one is named by its DOI, else by its number in PubMed, else by its own key; by its file and key where another
reference has that name. An item that there is keeps its name, whatever it is: answers of a review belong to it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from setsearch.indexing.references.convert import merged
from setsearch.indexing.references.identity import SURE, Copy, Group, contradict, name_others
from setsearch.indexing.references.reference import KEY, PLACE, TITLE, Reference, as_json, from_json
from setsearch.storage.ids import is_storable
from setsearch.storage.kept.records import Record
from setsearch.storage.names import Vocabulary
from setsearch.text.headline import headline, shorten
from setsearch.text.identifiers import plain_title

AT_ONCE = 1000  # references that are looked up together
# Name, text, title, columns, fields.
ReferenceItem = tuple[str, str, str | None, dict[str, Any] | None, Mapping[str, float | list[str]] | None]
_number = re.compile(r"#([0-9]{1,9})(?: \([0-9]+\))?$")  # of a name that is a place, which may be taken twice
COLUMNS = ("authors", "year", "journal", "doi", "pmid", "keywords")  # that references have, to be kept or as fields


class Stored(NamedTuple):
    """A reference of the collection: its name, its record, and the files that it came from."""

    name: str
    reference: Reference | None
    files: list[str]


class Known(NamedTuple):
    """What a collection has of some references: by their other names; and which items have names that they want."""

    stored: dict[str, list[Stored]]
    items: dict[str, bool]  # whether the item has a record


@dataclass
class Filing:
    """Finds the item of each reference."""

    items: Vocabulary
    taken: set[str] = field(default_factory=set)

    def file(self, groups: Iterable[Group]) -> Iterator[tuple[ReferenceItem, Record]]:
        """The items of references, with their records."""
        groups = iter(groups)
        while some := list(islice(groups, AT_ONCE)):
            known = self._known(some)
            for group in some:
                yield self._item(group, known)

    def _known(self, groups: list[Group]) -> Known:
        if not self.items.size:
            return Known({}, {})
        copies = [copy for group in groups for copy in group.copies]
        ids = self.items.records.by_name(sorted({alias for copy in copies for alias in _aliases(copy)}))
        every = sorted({id for own in ids.values() for id in own})
        names = self.items.stored(every)
        records = self.items.records.read(every, strict=False)  # a damaged one is written again
        stored = {id: _stored(names[id][0], data) for id, data in records.items() if id in names}
        wanted = {name for group in groups for name in _wanted(group)}
        wanted.update(place for copy in copies for place in (copy.place, *_older_places(copy)))
        items = self.items.find(sorted(filter(is_storable, wanted)))
        have = self.items.records.having([*items.values()])
        return Known(
            {alias: [stored[id] for id in own if id in stored] for alias, own in ids.items()},
            {name: id in have for name, id in items.items()},
        )

    def _item(self, group: Group, known: Known) -> tuple[ReferenceItem, Record]:
        stored = self._find(group, known)
        copies = [copy.reference for copy in group.copies]
        files = list(dict.fromkeys(copy.file for copy in group.copies))
        name = self._new_name(group, known) if stored is None else stored.name
        before = [] if stored is None or stored.reference is None else [stored.reference]
        earlier = [] if stored is None else stored.files
        record = merged([*copies, *before])
        if len(copies) > 1 or (set(files) - set(earlier) and earlier):
            group.filed.merged[name] = list(dict.fromkeys([*earlier, *(copy.file for copy in group.copies)]))
        if not record.first("abstract"):
            group.filed.bare.append(name)
        self.taken.add(name)
        names = [alias for copy in group.copies for alias in _aliases(copy)]
        names += [f"{kind}:{own}" for kind, own in record.identities]
        data = {"reference": as_json(record), "files": list(dict.fromkeys([*earlier, *files]))}
        text = record.text()
        title = (shorten(record.first("title")) or headline(text) or "").replace("\0", " ") or None
        kept = columns_of(record)
        columns = {column: kept.get(column) for column in group.keep} if group.keep else None
        fields = None if group.fields is None else group.fields(name, kept)
        return (name, text, title, columns, fields), Record(data, tuple(dict.fromkeys(names)))

    def _find(self, group: Group, known: Known) -> Stored | None:
        """The item that a reference is: by DOI, by number, by title and year, by its place, by a name of before."""
        for copy in group.copies:
            for kind, own in copy.reference.identities:
                for stored in known.stored.get(f"{kind}:{own}", ()):
                    is_likely = stored.reference is None or not contradict(copy.reference, stored.reference)
                    if stored.name not in self.taken and (kind in SURE or is_likely):
                        return stored
        for copy in group.copies:
            here = known.stored.get(f"{PLACE}:{copy.place}", ())
            for stored in sorted(here, key=lambda own: not _are_titled_alike(copy, own)):
                if stored.name not in self.taken and _is_edited(copy, stored):
                    return stored
            for place in _older_places(copy):
                if place in known.items and place not in self.taken:
                    group.filed.older.append(place)
                    return Stored(place, None, [])
        return None

    def _new_name(self, group: Group, known: Known) -> str:
        first = group.copies[0]
        names = _wanted(group)
        for name in [*names, first.place]:
            is_sure = name in (first.reference.doi, first.reference.pmid)
            # A document of this DOI that came without a record, from a table, is this one.
            is_free = name not in known.items or (is_sure and not known.items[name])
            if is_storable(name) and name not in self.taken and is_free:
                return name
        times = Counter({first.place: 1})
        while True:
            times[first.place] += 1
            name = f"{first.place} ({times[first.place]})"
            if name not in self.taken and self.items.find_one(name) is None:
                return name


def copies_of(items: Vocabulary, is_kept: Callable[[str], bool], read: Iterable[Copy]) -> Iterator[Copy]:
    """The references of a collection that came from files that are kept, one for each of these.

    Those that were `read` again, because the file has a broken record, are not among them.
    """
    again, records = {copy.place: copy for copy in read}, items.records.read(strict=False)
    for id, (name, _) in items.stored([*records]).items():
        stored = _stored(name, records[id])
        number = _number.search(name)
        for file in stored.files:
            if stored.reference is not None and is_kept(file):
                copy = Copy(stored.reference, file, int(number[1]) if number else 0)
                if copy.place not in again or not _is_edited(again[copy.place], stored):
                    yield copy


def columns_of(reference: Reference) -> dict[str, Any]:
    """What can be kept of a reference as columns."""
    year = reference.year
    values = (
        reference.values("author"),
        int(year) if year else None,
        reference.first("journal") or None,
        reference.doi or None,
        reference.pmid or None,
        reference.keywords,
    )
    return dict(zip(COLUMNS, values, strict=True))


def stored_reference(data: Any) -> Reference | None:
    """The reference of a record; None if it is of something else."""
    try:
        return from_json(data["reference"])
    except (KeyError, TypeError, ValueError):
        return None


def _is_edited(copy: Copy, stored: Stored) -> bool:
    """Whether a record at the same place is the same: it has a key, which no number is, or the same title."""
    own, before = copy.reference, stored.reference
    is_named = bool(own.own_key) and not own.own_key.isdecimal()  # numbers begin anew with each export
    is_same = before is not None and _are_titled_alike(copy, stored) and own.text()[:200] == before.text()[:200]
    return is_same or (is_named and (before is None or not name_others(own, before)))


def _are_titled_alike(copy: Copy, stored: Stored) -> bool:
    return stored.reference is not None and copy.reference.first("title") == stored.reference.first("title")


def _stored(name: str, data: Any) -> Stored:
    files = data.get("files", []) if isinstance(data, dict) else []
    return Stored(name, stored_reference(data), [str(file) for file in files])


def _aliases(copy: Copy) -> list[str]:
    """The names under which a copy is kept, with their kinds."""
    names = [*copy.reference.identities, (PLACE, copy.place)]
    names += [(KEY, copy.reference.own_key)] if copy.reference.own_key else []
    title = plain_title(copy.reference.first("title"))
    names += [(TITLE, title)] if title and not copy.reference.year else []  # to be found by, not to be known by
    return [f"{kind}:{name}" for kind, name in names if is_storable(name)]


def _wanted(group: Group) -> list[str]:
    """The names that a new reference may get, the best first."""
    references = [copy.reference for copy in group.copies]
    dois, pmids = [r.doi for r in references if r.doi], [r.pmid for r in references if r.pmid]
    return [*dois[:1], *([] if dois else pmids[:1]), *([] if dois or pmids else filter(None, [references[0].own_key]))]


def _older_places(copy: Copy) -> list[str]:
    """The names that versions before 0.22 gave."""
    reference = copy.reference
    keys = [reference.first("doi"), *(value for tag, value in reference.fields if tag in ("AN", "ID")), reference.key]
    keys += [reference.pmid] if reference.form == "pubmed" else []
    return [f"{copy.file}#{key}" for key in dict.fromkeys(keys) if key and is_storable(key)]
