"""The lists of one relation at one stamp, in memory: from a file, from the tables, or brought up from an earlier stamp.

All processes map the file of arrays that was derived from some revision. Later revisions say which items
they changed: the lists of these are read from the tables, and replace the old ones in memory. Where that is not known,
all is read from the tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import Entries, Ints, bincount, distinct, union
from setsearch.core.threads import give_back
from setsearch.errors import LostArrays
from setsearch.lists import Lists, transposed
from setsearch.memory import layout
from setsearch.memory.known_columns import KnownColumns
from setsearch.memory.names.known import KnownNames, StoredNames
from setsearch.models.values import NAMES_BESIDE_RATINGS, NUMBERS_BESIDE_RATINGS, FeatureGroups
from setsearch.sqlite.mapped import Mapped
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import MOST_LOOKED_UP, Relation
from setsearch.storage.revisions import NO_ITEMS, Changed, Revision

LARGEST_SHARE = 1 / 8  # of the items that may change before everything is read again
ALWAYS_FEW = 1000  # items


@dataclass(frozen=True, eq=False)
class Content:
    """Lists of both directions; `absent` are ids below `n_ids` without an item.

    `mapped` is the file that holds these lists, and their values; None if memory alone does. `groups`: the fields of
    the features, if there are several. `names`: of the items, and of the features. `derived` is what fields make of the
    lists alone, by their side (field.py): contents with the same lists share it.
    """

    items: Vocabulary
    features: Vocabulary
    by_item: Lists
    by_feature: Lists
    absent: Ints
    mapped: Mapped | None
    groups: FeatureGroups | None = field(default=None, kw_only=True)
    names: dict[bool, KnownNames] = field(default_factory=dict, kw_only=True)  # of features: True
    columns: KnownColumns = field(default_factory=KnownColumns, kw_only=True)
    derived: dict[bool, Any] = field(default_factory=dict, kw_only=True)


class Since(NamedTuple):
    """The content of a file of arrays, and the items that changed since, ascending; `known` is kept of the file."""

    content: Content
    changed: Ints
    known: dict[Any, Any]


@dataclass(frozen=True, eq=False)
class RelationContent(Content):
    """The content of a relation as it is stored; `since`: what changed since its file of arrays, if it has one."""

    relation: Relation
    origin: tuple[int, ...] | None  # the file of arrays that the lists come from
    since: Since | None = None

    def arrays(self) -> layout.NamedArrays:
        """What a file of arrays gets of the lists."""
        yield "sizes", np.array([len(self.by_item), len(self.by_feature)])
        yield "absent", self.absent
        if self.groups is not None:
            yield array_of_fields(self.groups.names), self.groups.of_feature
        yield from layout.lists_to_arrays("items", self.by_item, may_grow=True)
        yield from layout.lists_to_arrays("features", self.by_feature, may_grow=True)

    @classmethod
    def from_file(cls, relation: Relation, mapped: Mapped) -> "RelationContent | None":
        """The present content from a file of arrays; None if what changed since is unknown, or too much.

        Raises LostArrays.
        """
        changes = _few_changes(relation, state_of(mapped))
        return None if changes is None else _mapped(relation, mapped, changes)

    def advanced(self, relation: Relation) -> "RelationContent | None":
        """The content at the stamp of `relation`, from this one; None if what changed is unknown, or too much."""
        changes = _few_changes(relation, self.relation.state)
        return None if changes is None else _changed(self, relation, changes)


def read_content(relation: Relation) -> RelationContent:
    """The content from the tables, which are the truth."""
    cells = relation.forward.read_all()
    give_back()
    n_items, n_features = relation.items.next_id, relation.features.next_id
    by_item = Lists.of(cells, n_items, n_features)
    cells = transposed(cells)
    by_feature = Lists.of(cells, n_features, n_items)
    absent = np.zeros(0, np.int64)
    if relation.items.size != n_items:
        is_absent = np.ones(n_items, bool)
        is_absent[np.fromiter(relation.items.ids(), np.int64)] = False
        absent = np.flatnonzero(is_absent)
    return _kept(relation, (by_item, by_feature), absent, None, None, feature_groups(relation))


def _kept(
    relation: Relation,
    lists: tuple[Lists, Lists],
    absent: Ints,
    mapped: Mapped | None,
    origin: tuple[int, ...] | None,
    groups: FeatureGroups | None,
) -> RelationContent:
    """A content, which is kept outside of transactions."""
    own = relation.within(None)
    return RelationContent(own.items, own.features, *lists, absent, mapped, own, origin, groups=groups)


def feature_groups(relation: Relation) -> FeatureGroups | None:
    """Of which field each feature is; None if there is only one field."""
    if not relation.fields:
        return None
    return _groups(relation, relation.fields_of_all())


def _groups(relation: Relation, of_feature: Ints) -> FeatureGroups:
    """The fields of features, given the places of these."""
    names, numbers = (1.0, 1.0) if relation.analyzer is not None else (NAMES_BESIDE_RATINGS, NUMBERS_BESIDE_RATINGS)
    others = (names if own.ends is None else numbers for own in relation.fields)
    return FeatureGroups(relation.field_names, of_feature, (1.0, *others))


def _mapped_groups(relation: Relation, mapped: Mapped, size: int) -> FeatureGroups | None:
    """The same of the features of a file: from it, unless it knows fewer fields. Raises LostArrays."""
    name = array_of_fields(relation.field_names)
    if not relation.fields or name not in mapped.arrays:
        found = feature_groups(relation)
        return None if found is None else found._replace(of_feature=found.of_feature[:size])
    of_feature = layout.take_array(mapped, name, "<i8", size)
    if not 0 <= of_feature.min(initial=0) <= of_feature.max(initial=0) < len(relation.field_names):
        raise LostArrays(f"the mapped {name}")
    return _groups(relation, of_feature)


def array_of_fields(names: Sequence[str]) -> str:
    """How a file of arrays names the array that says of which field each feature is."""
    return f"fields of features, {', '.join(names)}"


def array_of_noise(names: Sequence[str]) -> str:
    """How a file of arrays names the places of the fields that are noise."""
    return f"noise among {', '.join(names)}"


def mapped_noise(mapped: Mapped | None, names: Sequence[str]) -> list[int] | None:
    """The places of the fields that are noise, as a file has them; None if it does not. Raises LostArrays."""
    name = array_of_noise(names)
    if mapped is None or name not in mapped.arrays:
        return None
    places: list[int] = layout.take_array(mapped, name, "<i8").tolist()
    if not all(0 < place < len(names) for place in places):
        raise LostArrays(f"the mapped {name}")
    return places


def _changed_groups(relation: Relation, known: FeatureGroups | None, features: Ints) -> FeatureGroups | None:
    """The same after some features, ascending, may have other names: anew if there is another field."""
    if known is None or known.names != relation.field_names or len(features) > MOST_LOOKED_UP:
        return feature_groups(relation)
    of_feature = np.zeros(relation.features.next_id, np.int64)
    kept = known.of_feature[: len(of_feature)]
    of_feature[: len(kept)] = kept
    of_feature[features] = relation.fields_of(features)
    return _groups(relation, of_feature)


def _few_changes(relation: Relation, since: Revision) -> Changed | None:
    """The items that changed since a revision; None if they are unknown, or the lists of too many changed."""
    changes = relation.history.changes(since)
    most = max(ALWAYS_FEW, relation.items.size * LARGEST_SHARE)
    return None if changes is None or len(changes.in_lists) > most else changes


def state_of(mapped: Mapped) -> Revision:
    """The revision that a file of lists was derived from."""
    return Revision(*mapped.state) if len(mapped.state) == len(Revision._fields) else Revision(-1, -1, -1)


def _mapped(relation: Relation, mapped: Mapped, changes: Changed) -> RelationContent:
    sizes, absent = layout.take_array(mapped, "sizes", "<i8", 2).tolist(), layout.take_array(mapped, "absent", "<i8")
    # Freed ids are given again: as long as there are items, there were never more ids than now.
    most = relation.items.next_id, relation.features.next_id
    inside = all(0 <= size <= limit for size, limit in zip(sizes, most, strict=True))
    n_items, n_features = sizes
    if not inside or (len(absent) and not 0 <= absent.min() <= absent.max() < n_items):
        raise LostArrays("the mapped lists")
    by_item = layout.lists_from_arrays(mapped, "items", n_items, n_features)
    by_feature = layout.lists_from_arrays(mapped, "features", n_features, n_items)
    groups = _mapped_groups(relation, mapped, n_features)
    content = _kept(relation, (by_item, by_feature), absent, mapped, mapped.identity, groups)
    content.names[False] = KnownNames(StoredNames.from_arrays(mapped, n_items))
    return _changed(content, relation, changes) if len(changes.in_lists) or len(changes.shown) else content


def _changed(content: RelationContent, relation: Relation, changes: Changed) -> RelationContent:
    """The content after some items changed: the lists of those that may have others are read from the tables."""
    changed = changes.in_lists
    if not len(changed) and _settings(relation) == _settings(content.relation):
        return _shown(content, relation, changes)
    n_items, n_features = relation.items.next_id, relation.features.next_id
    by_item, by_feature = content.by_item, content.by_feature
    old = by_item.take(changed[changed < len(by_item)])
    new = relation.forward.read(changed)
    existing = np.array(sorted(relation.items.stored(changed.tolist())), np.int64)
    absent = np.setdiff1d(union(content.absent, changed), existing, assume_unique=True)
    old_by_feature, new_by_feature = (transposed(entries) for entries in (old, new))
    both = (
        by_item.replaced(changed[changed < n_items], new, n_items, n_features),
        by_feature.changed(changed, old_by_feature, new_by_feature, (n_features, n_items)),
    )
    groups = _changed_groups(relation, content.groups, distinct(new.ids))
    now = _kept(relation, both, absent[absent < n_items], None, content.origin, groups)
    renamed = union(changed, changes.shown), _perhaps_renamed(by_feature, old, new)
    now = replace(now, columns=content.columns.after(renamed[0]))
    for side, names in dict(content.names).items():  # threads may add some
        now.names[side] = names.after((now.items, now.features)[side], renamed[side].tolist())
    if content.mapped is not None:
        return replace(now, since=Since(replace(content, derived={}), changed, {}))
    if content.since is None:
        return now
    return replace(now, since=content.since._replace(changed=union(content.since.changed, changed)))


def _settings(relation: Relation) -> tuple[object, ...]:
    """What a content depends on beside the lists."""
    sizes = relation.items.size, relation.items.next_id, relation.features.size, relation.features.next_id
    return relation.analyzer, relation.contexts, relation.fields, relation.weights, sizes


def _shown(content: RelationContent, relation: Relation, changes: Changed) -> RelationContent:
    """The content after items got other titles or columns: all that is made of the lists stays."""
    own, renamed = relation.within(None), (changes.shown, NO_ITEMS)
    sides = dict(content.names).items()  # threads may add some
    names = {side: known.after((own.items, own.features)[side], renamed[side].tolist()) for side, known in sides}
    columns = content.columns.after(changes.shown)
    return replace(content, items=own.items, features=own.features, relation=own, names=names, columns=columns)


def _perhaps_renamed(by_feature: Lists, old: Entries, new: Entries) -> Ints:
    """The features that may have another name since some items changed, from `old` to `new`: the ids of those that no
    item has are given again.
    """
    features = distinct(np.concatenate([old.ids, new.ids]))
    having = np.zeros(len(features), np.int64)
    known = features < len(by_feature)
    having[known] = by_feature.lengths[features[known]]
    taken = bincount(np.searchsorted(features, old.ids), minlength=len(features))
    renamed: Ints = features[having == taken]
    return renamed
