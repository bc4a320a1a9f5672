"""Coverage-guided fuzzing of decoders and readers, by atheris: whatever the bytes, an answer or an error of ours.

python tests/exactness/torture/fuzz.py -max_total_time=600
"""

import io
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

try:
    import atheris
except ImportError:  # a test calls what it would call
    atheris = None

with nullcontext() if atheris is None else atheris.instrument_imports(include=["setsearch"]):
    from setsearch.errors import SetsearchError
    from setsearch.indexing import sources
    from setsearch.indexing.rows.reader import RowReader
    from setsearch.sqlite import fts5
    from setsearch.storage.analyzers import load_analyzer
    from setsearch.storage.codec import unpack, unpack_columns
    from setsearch.storage.kept import texts
    from setsearch.text import analyzer as text


def stored(data: "atheris.FuzzedDataProvider") -> None:
    """Texts and slices of arrays as they are stored."""
    rest = data.ConsumeBytes(400)
    unpack(rest)
    unpack_columns(rest, 4)
    texts._inflated(rest, len(rest))


def readers(data: "atheris.FuzzedDataProvider") -> None:
    """Files of any bytes."""
    kind = data.PickValueInList(["jsonl", "csv", "tsv", "txt", "jsonl.gz"])
    errors = data.PickValueInList(["strict", "replace", "skip"])
    relation = data.ConsumeBool()
    columns = sources.Columns(items="a", features="b") if relation else sources.Columns(id="a", text="b")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"x.{kind}")
        path.write_bytes(data.ConsumeBytes(2000))
        for name, *_ in sources.SourceReader(columns, RowReader(errors)).read([str(path)]):
            assert isinstance(name, str)


def words(data: "atheris.FuzzedDataProvider") -> None:
    """Texts, and descriptions of analyzers and of FTS5 tables."""
    given = data.ConsumeUnicodeNoSurrogates(300)
    analyzer = text.Analyzer()
    assert all(analyzer.words.split(given)) and all(analyzer(given))
    fts5.find_option(given, "content")
    load_analyzer(given)


def one_input(data: bytes) -> None:
    """One round of one of them."""
    provider = atheris.FuzzedDataProvider(data)
    try:
        provider.PickValueInList([stored, readers, words])(provider)
    except SetsearchError as error:
        assert str(error)


if __name__ == "__main__":
    sys.stdin = io.TextIOWrapper(io.BytesIO(b""))
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
