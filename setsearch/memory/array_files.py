"""The files of arrays beside a database, as one process uses them, as long as they are not damaged."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

from setsearch.arrays import Ints
from setsearch.errors import LostArrays, SetsearchError
from setsearch.memory.content import mapped_noise, state_of
from setsearch.memory.layout import NamedArrays, take_array
from setsearch.memory.process import Memory
from setsearch.sqlite.connections import LOG
from setsearch.sqlite.database import Database
from setsearch.sqlite.mapped import Mapped, beside, delete_arrays, identity_of, map_arrays, write_arrays
from setsearch.sqlite.spill import Spill
from setsearch.storage.generations import CONTEXTS, LISTS
from setsearch.storage.relation import Relation

WANTED, NO = "SETSEARCH_ARRAYS", ("0", "no", "off", "false")  # of the environment: no file is made, or used


class ArrayFiles:
    """The files of one database. Threads may share it."""

    def __init__(self, database: Database, memory: Memory) -> None:
        self._database = database
        self._damaged = memory.damaged

    @property
    def may_be_written(self) -> bool:
        """Whether there may be files: not in memory, in a folder that cannot be written, or where nobody wants them."""
        file = self._database.file
        if file is None or self._database.read_only or _is_unwanted():
            return False
        return os.access(file.parent, os.W_OK)

    @property
    def is_ours(self) -> bool:
        """Whether whoever asks may write: a lent connection is written by its owner."""
        path = self._database.path
        return path is not None and not self._database.read_only and os.access(path, os.W_OK)

    def map(self, relation: Relation, kind: str) -> Mapped | None:
        """The file of what was derived, LISTS or CONTEXTS, if there is one that may be used.

        It is mapped anew: lists write behind their entries, each into pages of its own.
        """
        if self._database.file is None or _is_unwanted():
            return None
        path = beside(self._database.file, f"{kind}-{relation.id}")
        identity = identity_of(path)
        if identity is None or identity in self._damaged:
            return None
        mapped = map_arrays(self._database.file, path)
        if mapped is None:
            self._damaged.add(identity)
        return mapped

    def distrust(self, mapped: Mapped) -> None:
        """Use a file no more."""
        self._damaged.add(mapped.identity)

    def forget(self, relation: Relation) -> None:
        """Use the files of a relation no more, and delete them if they are ours: they are written again."""
        for mapped in self._all(relation):
            self.distrust(mapped)
            if self.is_ours:
                delete_arrays(mapped.path)

    def are_intact(self, relation: Relation) -> bool:
        """Whether the files of a relation are as they were written, which takes a pass over them."""
        return all(mapped.are_intact() for mapped in self._all(relation))

    def write(self, relation: int, kind: str, state: Sequence[int], arrays: NamedArrays) -> bool:
        """Write the file of what was derived from a state, unless another process does; whether it was written.

        Of what a host has not committed there is none.
        """
        file = self._database.file
        if file is None or not self.may_be_written or self._database.is_nested:
            return False
        with suppress(OSError, SetsearchError):
            return write_arrays(file, beside(file, f"{kind}-{relation}"), [*state], arrays)
        return False

    def spill(self) -> Spill:
        """Where arrays wait while something is derived: beside the database, if there may be files, else in memory."""
        file = self._database.file
        return Spill(file.parent if file is not None and self.may_be_written else None)

    def delete(self, relations: Iterable[Relation]) -> None:
        """Delete the files of some relations, which are gone."""
        if self._database.file is not None:
            for relation in relations:
                for kind in (LISTS, CONTEXTS):
                    delete_arrays(beside(self._database.file, f"{kind}-{relation.id}"))

    def sizes(self, relations: Sequence[Relation]) -> dict[str, int]:
        """The bytes of the database and its log, those of it that are `free`, and of the files of arrays beside it.

        Empty without a file.
        """
        file = self._database.file
        if file is None:
            return {}
        beside_it = [beside(file, f"{kind}-{relation.id}") for relation in relations for kind in (LISTS, CONTEXTS)]
        log = file.with_name(file.name + LOG)
        sizes = [path.stat().st_size if path.exists() else 0 for path in (file, log, *beside_it)]
        pages, page = (relations[0].cursor.execute(f"pragma {n}").fetchone() for n in ("freelist_count", "page_size"))
        return {"database": sum(sizes[:2]), "free": int(pages[0]) * int(page[0]), "arrays": sum(sizes[2:])}

    def totals(self, relation: Relation, transposed: bool) -> Ints:
        """The sum of counts of each item: as it was when the lists were derived, else from the tables."""
        mapped = self.map(relation, LISTS)
        if mapped is not None and relation.history.changed_items(state_of(mapped)) is not None:
            with suppress(LostArrays):
                return take_array(mapped, f"{'features' if transposed else 'items'} totals", "<i8")
        if transposed:
            return relation.frequencies.read()[1]
        return relation.forward.totals()

    def posting_count(self, relation: Relation) -> int:
        """The number of nonzero cells: by what was derived from this content, else from the table, which is slower."""
        mapped = self.map(relation, LISTS)
        if mapped is not None and mapped.state == [*relation.state] and "items ids" in mapped.used:
            return mapped.used["items ids"]
        return relation.frequencies.sums()[0]

    def noise(self, relation: Relation) -> list[str]:
        """The fields that are noise (models/noise.py), as it was found when the lists were derived; else empty."""
        mapped, names = self.map(relation, LISTS), relation.field_names
        if mapped is not None and mapped.state == [*relation.state]:
            with suppress(LostArrays):
                return [names[place] for place in mapped_noise(mapped, names) or ()]
        return []

    def _all(self, relation: Relation) -> list[Mapped]:
        return [own for own in (self.map(relation, kind) for kind in (LISTS, CONTEXTS)) if own is not None]


def _is_unwanted() -> bool:
    return os.environ.get(WANTED, "").lower() in NO
