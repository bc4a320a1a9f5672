"""Vectors of items as stored: a row of small integers for each name of a vocabulary.

A vector counts by its direction only: v becomes rint(127 v / max |v_k|), one byte a dimension. The vocabulary says
where its vectors come from, and has a random stamp that is new whenever they change.
"""

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import real_numbers
from setsearch.errors import CorruptIndex, InvalidItem, UsageError
from setsearch.sqlite.integrity import CHECKSUM_BYTES, add_checksum, strip_checksum
from setsearch.storage.names import Vocabulary
from setsearch.storage.revisions import random_number

OWN, ENCODER, LATENT = "own", "encoder", "latent"
SOURCES = (OWN, ENCODER, LATENT)
LARGEST = 127  # absolute value of a stored number
MOST_DIMENSIONS = 8192  # more than encoders give

Bytes = npt.NDArray[np.int8]
Rows = tuple[Sequence[str], Bytes, Sequence[int | None]]  # names, vectors, digests of what was encoded


class VectorSource(NamedTuple):
    """Where the vectors of a vocabulary come from: "own" (of the user), "encoder" (of that `name`), or "latent".

    `stamp` identifies the present vectors; `state` is the revision and stamp of the content that latent ones are of.
    """

    source: str
    size: int | None = None  # dimensions; None as long as there is no vector
    name: str = ""
    stamp: int = 0
    state: tuple[int, int] | None = None


def vector_source(vocabulary: Vocabulary) -> VectorSource | None:
    """Where the vectors of a vocabulary come from; None without vectors. Raises CorruptIndex."""
    if vocabulary.vectors is None:
        return None
    try:
        source, size, name, stamp, state = json.loads(vocabulary.vectors)
        known = VectorSource(source, size, name, stamp, None if state is None else (state[0], state[1]))
        is_size = size is None or (isinstance(size, int) and 0 < size <= MOST_DIMENSIONS)
        if known.source in SOURCES and is_size and isinstance(name, str):
            return known
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    raise CorruptIndex(f"where the vectors of {vocabulary.name} come from is damaged; add the vectors again")


def refuse_others(vocabulary: Vocabulary, source: VectorSource) -> None:
    """Raise UsageError if there are vectors from elsewhere, which may have taken hours to make."""
    before = vector_source(vocabulary)
    if before is not None and before.size is not None and not _is_same(before, source):
        kind = {OWN: "given by you", ENCODER: f"of the encoder {before.name!r}", LATENT: "made from the collection"}
        raise UsageError(f"{vocabulary.name} have vectors {kind[before.source]}; `replace` puts others in their place")


def is_encoded(vocabulary: Vocabulary) -> bool:
    """Whether the vectors of a vocabulary are those of an encoder."""
    source = vector_source(vocabulary)
    return source is not None and source.source == ENCODER


def set_source(vocabulary: Vocabulary, source: VectorSource | None) -> None:
    """Say where vectors come from, with a new stamp. Those of another source are deleted."""
    before = vector_source(vocabulary)
    if before is not None and (source is None or not _is_same(before, source)):
        vocabulary.cursor.execute("delete from setsearch_vector where kind = ?", (vocabulary.id,))
    stored = None if source is None else json.dumps(source._replace(stamp=random_number()))
    vocabulary.vectors = stored
    vocabulary.cursor.execute("update setsearch_kind set vectors = ? where id = ?", (stored, vocabulary.id))


def quantized(names: Sequence[str], vectors: Iterable[object]) -> Bytes:
    """Vectors as stored, `(n_names, size)`; raises InvalidItem. A vector is a row of numbers, or float32 as bytes."""
    rows = [_numbers(name, vector) for name, vector in zip(names, vectors, strict=True)]
    for name, row in zip(names, rows, strict=True):
        if row.ndim != 1 or not 0 < len(row) <= MOST_DIMENSIONS:
            raise InvalidItem(f"the vector of {name!r} has the shape {row.shape}; give 1 to {MOST_DIMENSIONS} numbers")
        if len(row) != len(rows[0]):
            told = f"the vector of {name!r} has {len(row)} numbers, that of {names[0]!r} {len(rows[0])}"
            raise InvalidItem(f"{told}; give all as many")
    matrix = np.array(rows, float).reshape(len(rows), -1)
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    for place in np.flatnonzero(~(np.isfinite(largest) & (largest > 0))).tolist():
        told = f"the vector of {names[place]!r} has no direction: all numbers are 0, or one is not finite"
        raise InvalidItem(f"{told}; leave it out")
    rounded: Bytes = np.rint(matrix / largest[:, None] * LARGEST).astype(np.int8)
    return rounded


def _numbers(name: str, vector: object) -> npt.NDArray[np.float64]:
    try:
        if isinstance(vector, (bytes, memoryview)):
            return np.frombuffer(vector, "<f4").astype(float)
        return real_numbers(json.loads(vector) if isinstance(vector, str) else vector)
    except (ValueError, TypeError) as error:
        raise InvalidItem(f"the vector of {name!r} is no row of numbers: {error}") from error


def write_vectors(vocabulary: Vocabulary, source: VectorSource, rows: Rows) -> None:
    """Store names, their vectors `(n_names, size)`, and the digests of what was encoded; raises InvalidItem.

    Vectors of these names are replaced, and all vectors of another source.
    """
    names, vectors, digests = rows
    before = vector_source(vocabulary)
    if before is not None and _is_same(before, source) and before.size not in (None, vectors.shape[1]):
        raise InvalidItem(
            f"the vectors of {vocabulary.name} have {before.size} numbers, not {vectors.shape[1]}; "
            "`replace` puts others in their place"
        )
    set_source(vocabulary, source._replace(size=vectors.shape[1]))
    data = [add_checksum(row.tobytes(), name) for name, row in zip(names, vectors, strict=True)]
    insert = "insert or replace into setsearch_vector (kind, name, vector, digest)"
    stored = zip(names, data, digests, strict=True)
    vocabulary.cursor.executemany(f"{insert} values ({vocabulary.id}, ?, ?, ?)", stored)


def replace_vectors(vocabulary: Vocabulary, source: VectorSource, rows: Rows) -> None:
    """Store vectors as `write_vectors` does, in place of all others."""
    set_source(vocabulary, None)
    write_vectors(vocabulary, source, rows)


def read_vectors(vocabulary: Vocabulary) -> tuple[list[str], Bytes]:
    """All names and vectors of a vocabulary, in the order of the names; raises CorruptIndex."""
    names, vectors = list[str](), list[bytes]()
    for name, vector in _stored(vocabulary):
        if vector is None:
            raise CorruptIndex(f"the vector of {name!r:.40} is damaged; `check --repair` deletes it, then add it again")
        names.append(name)
        vectors.append(vector)
    return names, np.frombuffer(b"".join(vectors), np.int8).reshape(len(names), -1 if names else 0)


def delete_damaged(vocabulary: Vocabulary) -> int:
    """Delete the vectors that are damaged; returns how many."""
    damaged = [name for name, vector in _stored(vocabulary) if vector is None]
    delete_vectors(vocabulary, [(name, None) for name in damaged])
    return len(damaged)


def _stored(vocabulary: Vocabulary) -> list[tuple[str, bytes | None]]:
    """Names and vectors in the order of the names; None in place of a damaged one."""
    source = vector_source(vocabulary)
    length = CHECKSUM_BYTES + (0 if source is None or source.size is None else source.size)
    rows = vocabulary.cursor.execute(
        "select name, vector from setsearch_vector where kind = ? order by name", (vocabulary.id,)
    ).fetchall()
    return [(name, strip_checksum(data, name) if len(data) == length else None) for name, data in rows]


def count_vectors(vocabulary: Vocabulary) -> int:
    """How many names have a vector."""
    statement = "select count(*) from setsearch_vector where kind = ?"
    return int(vocabulary.cursor.execute(statement, (vocabulary.id,)).fetchone()[0])


def delete_vectors(vocabulary: Vocabulary, names: Iterable[tuple[str, int | None]]) -> None:
    """Delete the vectors of names; with a digest, only those of another one."""
    source = vector_source(vocabulary)
    if source is None:
        return
    rows = [(vocabulary.id, name, digest, digest) for name, digest in names]
    vocabulary.cursor.executemany(
        "delete from setsearch_vector where kind = ? and name = ? and (? is null or digest is not ?)", rows
    )
    if vocabulary.cursor.rowcount:
        set_source(vocabulary, source)


def delete_orphans(vocabulary: Vocabulary) -> None:
    """Delete the vectors of names that are gone, after all items of a relation were replaced."""
    source = vector_source(vocabulary)
    if source is None:
        return
    vocabulary.cursor.execute(
        "delete from setsearch_vector where kind = ? and name not in "
        "(select name from setsearch_name where kind = setsearch_vector.kind)",
        (vocabulary.id,),
    )
    set_source(vocabulary, source)  # names have other ids


def _is_same(one: VectorSource, other: VectorSource) -> bool:
    return (one.source, one.name) == (other.source, other.name)


def digest(text: bytes) -> int:
    """What tells texts apart, from a text in UTF-8."""
    return zlib.crc32(text)
