"""What notebooks show: tables of HTML, with all values, as text whatever they contain."""

import json
import re
from html import unescape

import pytest

import setsearch
from setsearch.answers.results import kept_name


@pytest.fixture
def index(tmp_path):
    with setsearch.open(tmp_path / "t.db", create=True) as index:
        index.add(
            [
                ("a", "lion tiger cat", "Lions <b>&"),
                ("b", "lion cat", "Cats"),
                ("c", "wheat rye"),
                ("d", "lion lion wheat"),
            ]
        )
        yield index


def cells(shown):
    """The rows of a table as a notebook shows them."""
    html = shown._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 1
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [
        [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)] for row in rows
    ]


def test_hits_have_the_columns_that_they_fill(index):
    reading = index.items("documents")
    plain = reading.expand(["b"], 2)
    assert cells(plain) == [
        ["rank", "item", "title", "score"],
        *([str(hit.rank), hit.item, hit.title or "", f"{hit.score:.3f}"] for hit in plain),
    ]
    assert plain[0].title == "Lions <b>&"
    full = cells(reading.expand(["b"], 2, explain=True, cut="mark"))
    assert full[0] == ["rank", "item", "title", "score", "belongs", "why"]
    assert "lion +" in full[1][-1] and full[1][4] in ("yes", "no")
    assert cells(setsearch.Hits()) == [[]]
    grouped = reading.expand(["a", "c"], 2, groups=2)
    assert [row[-1] for row in cells(grouped)] == ["like", *(hit.group[0] for hit in grouped)]


def test_hits_have_the_columns_that_were_kept(tmp_path):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    polars = pytest.importorskip("polars", reason="needs polars")
    kept = [{"year": 2001, "by": ["Ann", "Bob"], "title": "x"}, {"year": 1999.5, "by": [], "title": 3}, None]
    with setsearch.open(tmp_path / "t.db", create=True) as index:
        index.add([(str(number), "lion", f"T{number}", own) for number, own in enumerate(kept)])
        hits = index.items("documents").expand(["0"], keep_seeds=True)
        assert [hit.item for hit in hits] == ["0", "1", "2"]
        frame = hits.to_pandas()
        assert [*frame.columns] == ["rank", "item", "score", "title", "belongs", "year", "by", "title (kept)"]
        assert [*frame["year"]][:2] == [2001, 1999.5] and pandas.isna(frame["year"][2])
        assert [*frame["by"]] == [["Ann", "Bob"], [], None] and [*frame["title"]] == ["T0", "T1", "T2"]
        other = hits.to_polars()
        assert other.columns == [*frame.columns] and other["by"].dtype == polars.List(polars.String)
        assert other["title (kept)"].to_list() == ["x", "3", None] and other["year"].to_list() == [2001, 1999.5, None]
        assert cells(hits)[1][4:] == ["2001", "Ann, Bob", "x"]
        assert index.items("terms").expand(["lion"], keep_seeds=True).to_pandas().shape[1] == 5


def test_what_is_printed_names_itself(index, tmp_path):
    reading = index.items("documents")
    assert (repr(index), repr(reading)) == (
        f"<setsearch.Index of {tmp_path / 't.db'}>",
        "<setsearch.Reading of documents>",
    )
    explanation = reading.explain(["b"], "a")
    *parts, score = (line.split(None, 1) for line in str(explanation).splitlines())
    assert score == [f"{explanation.score:+.3f}", "score of Lions <b>&"]
    assert sum(float(weight) for weight, _ in parts) == pytest.approx(explanation.score, abs=0.01)


def test_an_explanation_sums_to_the_score(index):
    explanation = index.items("documents").explain(["b"], "a")
    _, *parts, score = cells(explanation)
    assert [float(weight) for _, weight in parts] == pytest.approx(
        [value for value in (explanation.constant, explanation.base) if value]
        + [part.weight for part in explanation.features],
        abs=1e-3,
    )
    assert score == ["score", f"{explanation.score:.3f}"]


def test_sets_readings_and_indexes(index, tmp_path):
    kept = index.set("<i>", "documents")
    kept.accept("Cats", "a")
    kept.reject("c")
    assert cells(kept)[1:] == [["b", "Cats", "accepted"], ["a", "Lions <b>&", "accepted"], ["c", "", "rejected"]]
    assert "&lt;i&gt;, of documents" in kept._repr_html_()
    assert ["number", "4"] in cells(index.items("documents"))
    index.add_numbers([("n1", [1.0]), ("n2", [2.0])], ["size"], "thing")
    assert ["number", "2"] in cells(index.reading("thing"))
    assert cells(index)[1] == ["documents", "4", "terms", "8"]
    with setsearch.open(tmp_path / "none.db", create=True) as empty:
        assert "none.db" in empty._repr_html_() or cells(empty) == [["items", "number", "described by", "number"]]


def test_hits_are_examples_and_parts_of_them_are_hits(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([("a", "lion cat"), ("b", "tiger cat"), ("c", "wheat"), ("d", "lion cat")])
        documents = index.items("documents")
        hits = documents.expand(["a"])
        some = hits[:2]
        assert isinstance(some, setsearch.Hits) and [*some] == [hits[0], hits[1]] and hits[-1] == [*hits][-1]
        assert (some.revision, some.asked, hits[5:]) == (hits.revision, hits.asked, setsearch.Hits())
        names = [hit.item for hit in some]
        assert documents.expand(some) == documents.expand(names)
        asked = documents.expand(["c"], exclude=names[:1], among=[hit.item for hit in hits])
        assert documents.expand(["c"], exclude=hits[:1], among=hits) == asked
        assert documents.explain(some, hits[2]) == documents.explain(names, hits[2].item)
        assert index.keep_set("cats", some, items="documents").accepted == names


def test_a_frame_is_no_list_of_examples(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([("a", "lion cat"), ("b", "tiger cat"), ("id", "wheat")])
        documents = index.items("documents")
        for frame in (pandas.DataFrame({"id": ["a"]}), polars.DataFrame({"id": ["a"]})):
            with pytest.raises(setsearch.errors.InvalidParameter, match="seeds is a list of texts, not a frame"):
                documents.expand(frame)
            assert documents.expand(frame["id"]) == documents.expand(["a"])
        with pytest.raises(setsearch.errors.InvalidParameter, match=r"seeds is a list of texts; .* is not one$"):
            documents.expand([polars.Series(["a"])])


def test_hits_are_rows_of_plain_values(tmp_path):
    """What a web application answers with: JSON has the names, and nothing but what was asked for."""
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        texts = {"a": "lion savanna cat", "b": "lion savanna", "c": "wheat field", "d": "barley field"}
        index.add(
            [setsearch.Item(id, text, columns={"year": 2000 + len(text), "snippet": 1}) for id, text in texts.items()]
        )
        documents = index.items("documents")
        (row,) = json.loads(json.dumps(documents.expand(["a"], 1).rows()))
        (hit,) = documents.expand(["a"], 1)
        plain = {"rank": 1, "item": "b", "score": hit.score, "title": None, "belongs": hit.belongs}
        plain |= {"year": 2012, kept_name("snippet", ["snippet"]): 1}
        assert row == plain
        hits = documents.expand(["a"], 1, explain=True, snippets=True)
        (row,) = json.loads(json.dumps(hits.rows()))
        reasons = [{"label": own.label, "weight": own.weight} for own in hits[0].reasons]
        assert row == plain | {"snippet": hits[0].snippet.text, "reasons": reasons} and reasons
        assert setsearch.Hits().rows() == []
