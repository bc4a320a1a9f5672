"""Vectors from the collection itself: what features together say, made anew by `refresh`."""

import json

import numpy as np
import pytest

import setsearch
from setsearch import errors
from setsearch.search import latent_items as latent
from setsearch.storage.kept.vectors import LATENT, VectorSource, write_vectors
from setsearch.storage.relation import load_relations


def ratings(n_films=40, n_users=60):
    """Films of four kinds; users rate a part of one kind, so that most films of a kind share no user."""
    data = {}
    for film in range(n_films):
        kind = film % 4
        data[f"f{film}"] = {
            f"u{user}": 1 for user in range(n_users) if user % 4 == kind and (user // 4 + film // 4) % 5 < 2
        }
    return data


def test_films_of_a_kind_are_found_by_all_users_together(tmp_path, monkeypatch):
    monkeypatch.setattr(latent, "SIZE", 4)
    data = ratings()
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
        films = index.items("film")
        kind = {film for film in data if int(film[1:]) % 4 == 1}
        assert index.add_latent("film") == len(data)
        found = {hit.item for hit in films.expand(["f1"], len(kind) - 1)}
        assert found <= kind
        assert index.info()["vectors"]["film"] == {
            "source": "latent", "encoder": None, "count": 40, "dimensions": 4,
        }  # fmt: skip
        with_all = films.expand(["f1"], 39)
        index.refresh("now")
        assert films.expand(["f1"], 39) == with_all
        index.update([("f1", [f"u{user}" for user in range(60) if user % 4 == 2])], ("film", "user"))
        index.refresh("50%")
        lagging = films.expand(["f1"], 9)
        index.refresh("now")
        assert films.expand(["f1"], 9) != lagging
        assert {hit.item for hit in films.expand(["f1"], 9)} <= {film for film in data if int(film[1:]) % 4 == 2}
        assert index.check() == []


def test_the_command_line_makes_them_and_update_makes_them_anew(run, tmp_path):
    rows = ["film,user", *(f"{film},{user}" for film, users in ratings().items() for user in users)]
    (tmp_path / "r.csv").write_text("\n".join(rows))
    assert run("index", "a.db", "r.csv", "--items", "film", "--features", "user")[0] == 0
    code, _, err = run("vectors", "a.db", "--latent", "--items", "film")
    assert (code, err.strip()) == (0, "added 40 vectors; a.db now holds those of 40 film with 39 dimensions")
    hits = json.loads(run("expand", "a.db", "f1", "--items", "film", "--explain", "--json")[1])
    assert "like in meaning" in {part["feature"] for part in hits[0]["features"]}
    assert run("update", "a.db")[0] == 0
    assert run("vectors", "a.db", "--latent", "--table", "x")[0] == 2


def test_too_few_items_are_refused(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", "lion"), ("b", "tiger")])
        with pytest.raises(errors.UsageError, match="too few for latent vectors"):
            index.add_latent("documents")
        assert index.info()["vectors"] == {}


def test_words_with_contexts_have_others(tmp_path):
    """Those that an earlier version made of them go."""
    animals, foods = "lion tiger cat dog".split(), "bread cake pie soup".split()
    lines = [f"the {animal} runs and the {food} tastes well" for animal in animals for food in foods]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="words") as index:
        index.add([(f"d{n}", " . ".join(lines)) for n in range(3)])
        index.refresh("now")
        terms = index.items("terms")
        expected = terms.expand(["lion", "tiger"], 9)
        assert {hit.item for hit in terms.expand(["lion", "tiger"], 2, vectors=9)} == {"cat", "dog"}
        with index._database.write() as cursor:
            relation = load_relations(cursor)[0]
            rows = ["lion", "soup"], np.array([[1, 2], [2, -1]], np.int8), [None, None]
            write_vectors(relation.features, VectorSource(LATENT, state=(relation.revision, relation.stamp)), rows)
        assert terms.expand(["lion", "tiger"], 9) != expected
        index.refresh("now")
        assert terms.expand(["lion", "tiger"], 9) == expected
        assert index.info()["vectors"] == {}


def test_latent_vectors_stay_where_too_few_items_are_left(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((f"d{n}", f"lion tiger cat w{n % 5} v{n % 7}") for n in range(40))
        index.add_latent("documents")
        index.delete([f"d{n}" for n in range(4, 40)])
        index.refresh("now")
        assert index.items("documents").expand(["d0"], 2)
