"""Fields: tags, links and numbers of the same items beside their texts, in one score."""

import json
import random
import sqlite3

import hypothesis.strategies as st
import numpy as np
import pytest
from fielded_items import answers, made, opened
from hypothesis import given
from laws import examples
from oracle import RARITY, lift_weights, same_scores, soft_values
from samples import with_kernels

import setsearch
from setsearch import Columns, Item
from setsearch.errors import (
    CorruptIndex,
    InvalidItem,
    InvalidParameter,
    SetsearchError,
    SourceError,
    UnknownItem,
    UnknownOption,
    UsageError,
)
from setsearch.storage.feature_fields import FeatureField, dump_fields, load_fields


def counted(reading, items):
    """The features of all items as they are stored."""
    return {item.id: reading.features_of(item.id) for item in items}


@pytest.mark.parametrize("by", [None, "tags", "text,year", {"text": 1, "tags": 0.25, "year": 3}])
@pytest.mark.parametrize("seed", range(2))
def test_scores_are_those_of_the_definition(seed, by):
    items = made(seed)
    index = opened(items)
    reading = index.items("documents")
    given = {"text": 1.0, "tags": 1.0, "year": 1.0}
    if by is not None:
        given = dict.fromkeys(given, 0.0) | (by if isinstance(by, dict) else dict.fromkeys(by.split(","), 1.0))
    coefficients = {"" if name == "text" else name: weight for name, weight in given.items()}
    for binarize, rule in (("twice-mean", "soft-twice-mean"), ("presence", "presence")):
        values = soft_values(counted(reading, items), 0.8, rule, coefficients)
        for seeds in (["i1"], ["i1", "i2", "i5"]):
            weights = lift_weights(values, seeds, 2.0, rarity=RARITY)
            expected = {item: sum(weights.get(f, 0.0) * x for f, x in own.items()) for item, own in values.items()}
            options = {"by": by, "feedback": 0, "binarize": binarize}
            for hits in with_kernels(lambda seeds=seeds, own=options: reading.expand(seeds, 99, **own, explain=True)):
                same_scores(hits, expected, seeds, 1e-6)
                for hit in hits:
                    assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, abs=1e-9)


@pytest.mark.parametrize("by", [None, "tags", "text=0.5,tags=2"])
def test_core_and_numpy_agree_to_the_bit(by, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(made(3, 200))
        index.refresh("now")
    for _ in range(2):  # lists with values from the file, and after a write
        with setsearch.open(tmp_path / "a.db") as index:
            for seeds in (["i1"], ["i1", "i2", "i4"], ["i1", "i2", "i3", "i4", "i5", "i6"]):
                reading = index.items("documents")
                one, *others = with_kernels(lambda reading=reading, own=seeds: answers(reading, own, by=by))
                assert others in ([], [one])
                one, *others = with_kernels(
                    lambda reading=reading, own=seeds: answers(reading, own, by=by, exclude=["i9"])
                )
                assert others in ([], [one])
            index.update(made(4, 5))


def test_lists_of_a_file_know_their_fields_after_writes(tmp_path):
    held = {item.id: item._replace(fields={"tags": [f"t{n % 7}", f"t{n}"]}) for n, item in enumerate(made(10, 50))}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(held.values())
        index.refresh("now")
    for number, fields in enumerate([{"tags": ["t1", "new"]}, {"tags": [], "more": ["t2"]}, {"more": []}]):
        with setsearch.open(tmp_path / "a.db") as index:
            assert index.check() == []
            gone, changed = sorted(held)[:2]
            index.delete([held.pop(gone).id])  # the ids of its features are given again
            before = held[changed].fields
            held[changed] = held[changed]._replace(fields=fields)
            held[f"x{number}"] = Item(f"x{number}", "w1 w2 w9", None, None, fields)
            index.update([held[changed], held[f"x{number}"]])
            held[changed] = held[changed]._replace(fields=(before or {}) | fields)
        new = opened(held.values()).items("documents")
        with setsearch.open(tmp_path / "a.db") as index:
            for by in ("tags", "text", None):
                reading = index.items("documents")
                assert answers(reading, [changed, "i9"], by=by) == answers(new, [changed, "i9"], by=by)


def test_the_first_field_alone_answers_as_an_index_without_others():
    items = made(5)
    alone = opened([item._replace(fields=None) for item in items]).items("documents")
    reading = opened(items).items("documents")
    for seeds in (["i1"], ["i1", "i2"], [f"i{n}" for n in range(7)]):
        for options in ({}, {"exclude": ["i20"]}, {"feedback": 0}):
            assert answers(reading, seeds, by="text", **options) == answers(alone, seeds, **options)
        assert [own.score for own in reading.fits(seeds, by="text")] == [own.score for own in alone.fits(seeds)]
    assert alone.defaults.fields == () and reading.defaults.fields == ("text", "tags", "year")


def test_a_weight_is_a_power_of_what_the_field_adds():
    reading = opened(made(6)).items("documents")
    weights = {"text": 1.0, "tags": 2.0, "year": 0.25}
    plain = reading.expand(["i1", "i2"], 99, feedback=0, explain=True)
    expected = {
        hit.item: sum(weights.get(part.feature.partition(":")[0], 1.0) / 2 * part.weight for part in hit.features)
        for hit in plain
    }
    for scale in (1, 20):  # quotients of weights tell
        by = {name: scale * weight for name, weight in weights.items()}
        assert dict(answers(reading, ["i1", "i2"], by=by, feedback=0)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("number", [False, True])
def test_other_fields_count_a_half_beside_ratings_and_numbers_a_half_of_names(number):
    rng = random.Random(8)
    users = [[f"u{rng.randrange(9)}" for _ in range(rng.randint(1, 5))] for _ in range(60)]
    told = [min(int(user[1:]) for user in has) for has in users]  # else the field would be noise
    own = [float(4 * one + rng.randrange(4)) if number else f"g{one // 2}" for one in told]
    items = [
        Item(f"i{n}", sorted({*has}), None, None, {"own": field})
        for n, (has, field) in enumerate(zip(users, own, strict=True))
    ]
    index = setsearch.open(sqlite3.connect(":memory:"))
    index.add(items, ("film", "user"))
    reading = index.items("film")
    values = soft_values(counted(reading, items), 1.0, "presence", {"": 1.0, "own": 0.25 if number else 0.5})
    for seeds in (["i1"], ["i1", "i2", "i5"]):
        weights = lift_weights(values, seeds, 2.0)
        expected = {item: sum(weights.get(f, 0.0) * x for f, x in own.items()) for item, own in values.items()}
        for hits in with_kernels(lambda seeds=seeds: reading.expand(seeds, 99)):
            same_scores(hits, expected, seeds, 1e-6)


def test_ratings_have_fields_too_and_their_users_no_others():
    films = {"a": ["x", "y"], "b": ["y", "z"], "c": ["z"], "d": ["v"], "e": ["x"]}
    genres = {"a": "crime", "b": "comedy", "c": "comedy", "d": "crime", "e": "drama"}
    index = setsearch.open(sqlite3.connect(":memory:"))
    index.add([Item(name, own, None, None, {"genre": genres[name]}) for name, own in films.items()], ("film", "user"))
    reading, users = index.items("film"), index.items("user")
    assert [hit.item for hit in reading.expand(["a"], 1, by="genre")] == ["d"]
    assert {hit.item for hit in users.expand(["y"], 99)} == {"x", "z", "v"}
    assert reading.expand(["a"], purpose="likes") and index.info()["readings"][0]["fields"] == ["user", "genre"]
    with pytest.raises(InvalidParameter, match="by is for terms, and for items with several fields"):
        users.expand(["y"], by="genre")


def test_noise_beside_ratings_does_not_count_unless_it_is_chosen():
    """Neither its features nor their lengths; a field that tells of the users does, and what few items tell."""
    rng = random.Random(5)
    films = [
        Item(f"f{n}", [f"u{rng.randrange(30) + 30 * (n % 2)}" for _ in range(8)], None, None, {"genre": f"g{n % 2}"})
        for n in range(200)
    ]
    noisy = [own._replace(fields={**own.fields, "noise": [f"n{rng.randrange(20)}" for _ in range(3)]}) for own in films]
    plain, more, few = (setsearch.open(sqlite3.connect(":memory:")) for _ in range(3))
    plain.add(films, ("film", "user"))
    more.add(noisy[::-1], ("film", "user"))
    few.add(noisy[:12], ("film", "user"))
    for seeds in (["f1"], ["f1", "f3", "f8"]):
        assert answers(more.items("film"), seeds) == answers(plain.items("film"), seeds)
        chosen = answers(more.items("film"), seeds, by="user,genre,noise")
        assert chosen != answers(plain.items("film"), seeds)
    assert any(own[1] for own in answers(more.items("film"), ["f1"], by="noise"))
    shown = few.items("film").expand(["f1"], 12, explain=True)
    assert any(part.feature.startswith("noise:") for hit in shown for part in hit.features)
    odd = [own._replace(fields={**own.fields, "noise": ["odd"]}) for own in noisy[1::2]]
    more.update(odd, ("film", "user"))  # now it tells
    found = more.items("film").expand(["f1"], explain=True)[0]
    assert "noise:odd" in [part.feature for part in found.features]


def test_noise_is_known_from_the_file(tmp_path, monkeypatch):
    """It is found when arrays are made, and after a write; a process that opens the index reads it."""
    rng = random.Random(6)
    films = [
        Item(f"f{n}", [f"u{rng.randrange(30)}" for _ in range(8)], None, None, {"noise": [f"n{rng.randrange(9)}"]})
        for n in range(200)
    ]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(films, ("film", "user"))
        index.derive()
        expected = answers(index.items("film"), ["f1", "f2"])
        assert [own["noise"] for own in index.info()["readings"]] == [["noise"], []]
    with monkeypatch.context() as patch, setsearch.open(tmp_path / "a.db") as index:
        patch.setattr("setsearch.memory.field.noisy_fields", None)
        assert answers(index.items("film"), ["f1", "f2"]) == expected
    with setsearch.open(tmp_path / "a.db") as index:
        assert answers(index.items("film"), ["f1", "f2"], by="user,noise") != expected
        index.add([films[0]._replace(id="new")], ("film", "user"))
        fresh = setsearch.open(sqlite3.connect(":memory:"))
        fresh.add([*films, films[0]._replace(id="new")], ("film", "user"))
        assert answers(index.items("film"), ["f1", "f2"]) == answers(fresh.items("film"), ["f1", "f2"])


WRITES = st.lists(
    st.tuples(st.sampled_from(["write", "delete", "bare", "ask", "new field", "number"]), st.integers(0, 9)), max_size=9
)


@examples(60)
@given(WRITES, st.booleans())
def test_whatever_is_written_answers_are_those_of_a_new_index(steps, from_nothing):
    held = {} if from_nothing else {item.id: item for item in made(7, 10)}
    index = opened(held.values())
    for place, (what, number) in enumerate(steps):
        name = f"i{number}"
        if what == "delete" and name in held and len(held) > 2:
            index.delete([held.pop(name).id])
        elif what in ("write", "bare", "new field", "number"):
            text = random.Random(place).choice(["w1 w2 w3", "w4 w5 w1", ""])
            fields = {"tags": [f"t{place}", "t1"], **({"more": ["m1"]} if what == "new field" else {})}
            given = None if what == "bare" else {"year": 1980 + 3 * number} if what == "number" else fields
            stays = {} if name not in held else held[name].fields or {}
            held[name] = Item(name, text, None, None, stays | (given or {}))
            index.update([Item(name, text, None, None, given)])
        elif what == "ask" and held:
            answers(index.items("documents"), sorted(held)[:1])
    for name in ("x", "y", "z") if len(held) < 3 else ():
        held[name] = Item(name, "w1 w2")
        index.update([held[name]])
    reading, seeds = index.items("documents"), sorted(held)[:2]
    new = opened(held.values()).items("documents")
    assert {*reading.defaults.fields} == {*new.defaults.fields}
    for by in (None, *new.defaults.fields):
        assert answers(reading, seeds, by=by) == answers(new, seeds, by=by)
    assert {name: reading.features_of(name) for name in held} == {name: new.features_of(name) for name in held}
    assert index.check() == []


def test_a_field_that_no_item_has_is_offered_no_longer():
    items = [Item("a", "w1", None, None, {"tags": ["x"]}), Item("b", "w1 w2", None, None, {"tags": ["x"], "n": None})]
    reading = (index := opened(items)).items("documents")
    assert reading.defaults.fields == ("text", "tags")
    index.update([Item("a", "w3", None, None, {"tags": None}), ("b", "w4")])
    assert reading.features_of("b") == {"tags:x": 1, "w4": 1} and reading.features_of("a") == {"w3": 1}
    index.delete(["b"])
    assert index.items("documents").defaults.fields == () and index.check() == []
    index.update([Item("a", "w3", None, None, {"n": 3}), Item("b", "w3", None, None, {"n": 4, "tags": []})])
    assert index.items("documents").defaults.fields == ("text", "n")


def test_what_is_indexed_again_without_its_fields_keeps_them(tmp_path, run):
    (tmp_path / "a.csv").write_text("id,text,tags,year\na,red wine,x|y,1990\nb,white wine,y|z,2000\nc,bread,,2001\n")
    fields = "--tags", "tags", "--split", "|", "--numbers", "year"
    assert run("index", "a.db", "a.csv", *fields)[0] == 0
    before = run("expand", "a.db", "a", "--items", "documents", "--json", "--explain")
    assert run("index", "a.db", "a.csv")[0] == 0
    assert run("expand", "a.db", "a", "--items", "documents", "--json", "--explain") == before
    (tmp_path / "a.csv").write_text("id,text,tags\na,red wine,\n")
    assert run("index", "a.db", "a.csv", *fields[:2])[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert [*index.items("documents").features_of("a")] == ["red", "wine", "year:below 2000", "year:below 2001"]


def test_a_table_that_is_indexed_again_without_its_fields_keeps_them():
    connection = table(PAPERS)
    index = setsearch.open(connection)
    index.add_table("papers", ROLES, track=True)
    index.add_table("papers", Columns(text="body", tags="kind=KEYWORD"), track=True)
    reading = index.items("documents")
    assert reading.defaults.fields == ("text", "keyword", "cites", "year", "kind")
    connection.execute("update papers set keyword = 'food', year = null where id = 'p1'")
    index.refresh()
    assert [name for name in reading.features_of("p1") if ":" in name] == [
        "cites:p1",
        "cites:p3",
        "keyword:food",
        "kind:food",
    ]
    with pytest.raises(UsageError, match="the texts are the field 'text'; name another one NAME=COLUMN"):
        index.add_table("papers", Columns(text="body", tags=("text",)))
    index.add_table("papers", Columns(text="body"), replace=True)
    assert index.items("documents").defaults.fields == ()


def test_tags_of_a_column_are_names(tmp_path, run):
    (tmp_path / "a.csv").write_text("id,text,day\na,w,2001-01-05\nb,w,2002-01-05\n")
    assert run("index", "a.db", "a.csv", "--tags", "day")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").features_of("a") == {"day:2001-01-05": 1, "w": 1}


def test_features_of_fields_are_no_terms(tmp_path, run):
    items = [Item("a", "red wine", None, None, {"tags": ["winter"]}), ("b", "white wine"), ("c", "winds")]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(items)
        terms = index.items("terms")
        assert terms.item_count() == 4 and {own.item for own in terms.find_names("tags")} == set()
        assert {own.item for own in terms.find_names("win")} == {"wine", "winds"}
        with pytest.raises(UnknownItem, match="no 'tag' among the 4 terms; `setsearch info`"):
            terms.expand(["tag"])
        with pytest.raises(UnknownItem, match="did you mean 'tags:winter'"):
            index.items("documents").expand([], having=["winter"])
        with pytest.raises(UnknownItem, match="did you mean 'tags:winter'"):
            index.items("documents").expand([], having=["tags:white"])
        counts = {reading["items"]: reading["item_count"] for reading in index.info()["readings"]}
        assert counts == {"documents": 3, "terms": 4}
    (tmp_path / "sets.json").write_text('{"s": ["a", "b", "nobody"]}')
    code, _, said = run("evaluate", "a.db", "sets.json", "--items", "documents", "--seeds", "1", "--draws", "1")
    assert code == 0 and "left out, 1 unknown: nobody" in said


def test_wrong_columns_of_python_are_one_line():
    for wrong in ({"tags": 5}, {"text": [5]}, {"numbers": None}):
        with pytest.raises(InvalidParameter, match="names a column, or several, not"):
            Columns(**wrong)
    index = opened([])
    with pytest.raises(UnknownOption, match="unknown option 'texts'; did you mean 'text'"):
        index.add_frame([], id="id", texts="text")
    for option, told in (
        ("weights", "a mapping such as"),
        ("fields", "weighed by `by`"),
        ("keep", "`filter` compares"),
        ("where", "`among=setsearch.Where"),
        ("limit", "`k` is the number of hits"),
    ):
        with pytest.raises(UnknownOption, match=f"unknown option '{option}'; .*{told}"):
            opened(made(1, 5)).items("documents").expand(["i1"], **{option: 1})
    complex_rows = np.array([[1 + 2j, 2], [3, 4]])
    with pytest.raises(InvalidItem, match="they are complex"):
        index.add_numbers(zip("ab", complex_rows, strict=True), ["x", "y"], "others")
    index.add([("a", "x"), ("b", "y")])
    with pytest.raises(InvalidItem, match="the vector of 'a' is no row of numbers: they are complex"):
        index.add_vectors(["a", "b"], complex_rows)


def test_a_lazy_frame_is_collected():
    polars = pytest.importorskip("polars", reason="needs polars")
    index, frame = opened([]), polars.DataFrame({"id": ["a", "b"], "text": ["x", "y"], "tags": [["t"], []]})
    assert index.add_frame(frame.lazy(), id="id", text="text", tags="tags") == 2
    assert index.items("documents").features_of("a") == {"tags:t": 1, "x": 1}


def table(rows):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table papers (id text primary key, body text, keyword text, cites text, year real)")
    connection.executemany("insert into papers values (?, ?, ?, ?, ?)", rows)
    return connection


PAPERS = [
    ("p1", "an index of words", '["index", "search"]', '["p3"]', 1994),
    ("p2", "numbers packed", '["index"]', '["p3"]', 1995),
    ("p3", "packing of bits", '["compression"]', None, 1970),
    ("p4", "boil water with rice", "food", "[]", None),
    ("p5", "flour water and salt", '["food"]', '["p4"]', 2011),
]
ROLES = Columns(text="body", tags="keyword", links="cites", numbers="year")


def test_a_tracked_table_has_fields_and_changes_of_these_are_followed():
    connection = table(PAPERS)
    index = setsearch.open(connection)
    index.add_table("papers", ROLES, track=True)
    reading = index.items("documents")
    assert reading.expand(["p1"], by="cites", k=1)[0].item == "p3", "what it links to"
    assert {hit.item for hit in reading.expand(["p5"], by="cites", k=1)} == {"p4"}
    assert [hit.item for hit in reading.expand(["p4"], by="keyword", k=1)] == ["p5"]
    assert index.refresh() == setsearch.Changes()
    connection.execute("update papers set keyword = '[\"food\", \"bits\"]', cites = null where id = 'p3'")
    connection.execute("update papers set year = 2012 where id = 'p4'")
    assert index.refresh().written == 2, "what has other ranges because of these was not written"
    assert reading.features_of("p3").items() >= {"keyword:food": 1, "cites:p3": 1}.items()
    fresh = setsearch.open(table(connection.execute("select * from papers").fetchall()))
    fresh.add_table("papers", ROLES)
    by = "text,keyword,cites"
    assert answers(reading, ["p1", "p3"], by=by) == answers(fresh.items("documents"), ["p1", "p3"], by=by)
    assert index.check() == []
    connection.execute("update papers set year = 'soon' where id = 'p4'")
    with pytest.raises(SourceError, match="table papers, rowid 4: the column 'year' is 'soon'"):
        index.refresh()  # of the rows that changed it is the first


def test_files_have_fields(tmp_path, run):
    (tmp_path / "a.csv").write_text("id,text,tags,year\na,red wine,x|y,1990\nb,white wine,y|z,\nc,bread,,2001\n")
    code, _, said = run("index", "a.db", "a.csv", "--tags", "tags", "--split", "|", "--numbers", "year")
    assert code == 0, said
    code, out, _ = run("expand", "a.db", "a", "--items", "documents", "--by", "tags", "--json")
    assert (code, json.loads(out)[0]["item"]) == (0, "b")
    code, _, said = run("index", "a.db", "a.csv", "--tags", "tagged.article=tag")
    assert code == 2 and "tagged is read with a table of the database that is indexed, not with a.csv" in said
    assert "; index that database itself" in said
    rows = [
        {"id": "a", "text": "red", "tags": ["x"]},
        {"id": "b", "text": "blue", "tags": ["x", "y"]},
        {"id": "c", "text": ""},
    ]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "b.db", "b.jsonl", "--tags", "tags")[0] == 0
    code, out, _ = run("expand", "b.db", "a", "--items", "documents", "--explain", "--json")
    assert json.loads(out)[0]["reasons"][0]["label"] == "tags: x"
    code, out, _ = run("info", "b.db", "--json")
    assert json.loads(out)["readings"][0]["fields"] == ["text", "tags"]


def test_reasons_are_by_field():
    items = [Item(f"i{n}", f"w{n}", None, None, {"tags": ["x", "y", f"z{n}"], "year": n}) for n in range(3)]
    items += [Item(f"o{n}", "w9", None, None, {"tags": [f"o{n}"], "year": 50 + n}) for n in range(9)]
    reading = opened(items).items("documents")
    reasons = reading.expand(["i1"], 1, explain=True)[0].reasons
    assert {reason.label.split(":")[0] for reason in reasons} == {"tags", "year"}
    shared = next(reason for reason in reasons if reason.label.startswith("tags"))
    assert shared.label == "tags: x, y" and shared.features == ("tags:x", "tags:y")
    assert next(reason for reason in reasons if reason.label.startswith("year")).sentence


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("nope", "there is no field 'nope'; there are text, tags, year"),
        ("tags=-1", "the weight of the field tags must be a number from 0 to 1000, not -1.0"),
        ("tags=x", "the weight of the field tags must be a number from 0 to 1000, not 'x'"),
        ("tags,tags", "the field 'tags' comes twice in `by`; give it once"),
        ("tags=0", "no field counts by 'tags=0'; give one a weight above 0"),
        (3, "by is the names of fields such as text,tags=0.5, not 3"),
    ],
)
def test_a_wrong_choice_is_one_line(by, told):
    with pytest.raises(InvalidParameter) as caught:
        opened(made(8, 5)).items("documents").expand(["i1"], by=by)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"a:b": []}, "a field is named by a text without colon, comma and equals sign, not 'a:b'"),
        ({"text": ["x"]}, "item 'a' has a field 'text', which is the name of the first one; rename it"),
        ({"year": float("nan")}, "item 'a' has nan in the field 'year'; numbers are finite"),
        ({"year": 10**400}, f"item 'a' has {10**59} in the field 'year'; numbers are finite"),
        ({"tags": [1]}, "item 'a' has [1] in the field 'tags'; give a number, or a list of texts"),
        (["tags"], "the fields of item 'a' are a mapping from names to values, not ['tags']"),
        (
            {"year": ["x"]},
            "the field 'year' has numbers, and an item has names there: {'x': 1}; give these another field",
        ),
    ],
)
def test_wrong_fields_of_an_item_are_one_line_and_nothing_is_written(fields, told):
    index = opened(made(9, 5))
    with pytest.raises(InvalidItem) as caught:
        index.add([Item("a", "text", None, None, fields)])
    assert str(caught.value) == told
    assert index.items("documents").item_count() == 5


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "[",
        "{}x",
        '[["a:b", null]]',
        '[["a"]]',
        '[["a", [2, 1]]]',
        '[["a", ["x"]]]',
        "[[1, null]]",
        "[NaN]",
        '[["a", null, true]]',
        '[["a", [9e9], true]]',
        '[["a", [1], 2]]',
        '[["a", null], {"a": -1}]',
        '[["a", null], {"a": "x"}]',
    ],
)
def test_damaged_fields_are_told(stored):
    with pytest.raises(CorruptIndex, match="the fields of a relation are damaged"):
        load_fields(stored)


def test_fields_are_stored_as_they_are():
    fields = (
        FeatureField("tags"),
        FeatureField("year", (0.1 + 0.2, 1990.0)),
        FeatureField("n", ()),
        FeatureField("day", (1.0,), True, True),
    )
    assert load_fields(dump_fields(fields)) == (fields, {})
    weights = {"text": 0.0, "tags": 2.5}
    assert load_fields(dump_fields(fields, weights)) == (fields, weights)
    assert dump_fields(()) is None and load_fields(None) == ((), {})


def test_weights_that_are_saved_are_the_default_of_questions(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(made(4, 40))
        plain = answers(index.items("documents"), ["i1", "i2"])
        index.weigh_fields("text,tags=0.25")
    with setsearch.open(path) as index, setsearch.open(path) as other:
        reading = index.items("documents")
        weighed = answers(reading, ["i1", "i2"], by="text,tags=0.25")
        assert answers(reading, ["i1", "i2"]) == weighed != plain
        assert answers(reading, ["i1", "i2"], by="text,tags,year") == plain
        assert reading.explain(["i1"], "i5").score == reading.explain(["i1"], "i5", by="text,tags=0.25").score
        by = index.info()["readings"][0]["defaults"]["by"]
        assert by == {"text": 1.0, "tags": 0.25, "year": 0.0}
        index.refresh("now")
        assert answers(other.items("documents"), ["i1", "i2"]) == weighed
        assert reading.expand(["i1"], model="bernoulli") and index.check() == []
        index.update([Item("i1", "w1 w2", None, None, {"more": ["m"]})])
        assert dict(index.items("documents").defaults.weights)["more"] == 1.0
        with pytest.raises(InvalidParameter, match="there is no field 'nope'"):
            index.weigh_fields("nope")
        index.replace(made(4, 40))
        assert answers(index.items("documents"), ["i1", "i2"]) == weighed
        index.weigh_fields(None)
        assert answers(index.items("documents"), ["i1", "i2"]) == plain
        assert index.items("documents").defaults.weights == ()


def test_wrong_columns_are_one_line():
    index = setsearch.open(table(PAPERS))
    with pytest.raises(SourceError, match="table papers, rowid 1 has no column 'nope'"):
        index.add_table("papers", Columns(text="body", tags="nope"))
    with pytest.raises(UsageError, match="a column is one field, not two: cites, cites"):
        index.add_table("papers", Columns(text="body", tags="cites", links="cites"))
    with pytest.raises(UsageError, match="`tags` and `links` are for documents"):
        index.add_table("papers", Columns(items="id", features="body", tags="cites"))
    for cell in ('{"a": 1}', '["a"', "[[1]]"):
        bad = setsearch.open(table([("p1", "text", cell, None, None)]))
        with pytest.raises(SourceError, match=r"rowid 1: the column .keyword. is .*, which is no JSON array of names"):
            bad.add_table("papers", ROLES)
    with pytest.raises(SetsearchError, match="rowid 1: the column 'year' is 'soon', not a finite number"):
        setsearch.open(table([("p1", "text", None, None, "soon")])).add_table("papers", ROLES)


def test_arrays_name_items_and_tags(tmp_path):
    """As frames of pandas have them, read from Parquet."""
    pandas = pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    frame = pandas.DataFrame({"id": ["a", "b", "c"], "text": ["x y", "x z", "q"]})
    frame["tags"] = [np.array(["t", "u"]), np.array(["t"]), np.array([])]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add_frame(frame, id="id", text="text", tags="tags")
        documents = index.items("documents")
        assert {"tags:t", "tags:u"} < set(documents.features_of("a"))
        assert documents.expand(np.array(["a", "b"]), 1) == documents.expand(["a", "b"], 1)
        assert documents.expand(["a"], 2, among=np.array(["b"])) == documents.expand(["a"], 2, among=["b"])
