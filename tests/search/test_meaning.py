"""Vectors as a field: scores equal their definition, and what changes vectors changes answers."""

import random
import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from oracle import RARITY, feedback_scores, lift_scores, meaning_scores, same_scores
from samples import random_data, with_kernels

import setsearch
from setsearch import errors
from setsearch.arrays import moments
from setsearch.memory.vectors import ENOUGH, Vectors, inverse_spread
from setsearch.search.examples import Examples
from setsearch.search.meaning import are_alike
from setsearch.search.passes import LEAST
from setsearch.sqlite.integrity import add_checksum

SIZE = 12


def random_vectors(names, seed=1, size=SIZE):
    rng = random.Random(seed)
    return {name: [rng.gauss(0.3, 1) for _ in range(size)] for name in names}


def texts_of(data):
    return [(name, " ".join(f for f, n in own.items() for _ in range(n))) for name, own in data.items()]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    data = random_data(3, 60, 50, 0.2)
    vectors = random_vectors([name for name in data if name != "i5"])
    with setsearch.open(tmp_path_factory.mktemp("meaning") / "a.db", create=True) as index:
        index.add(texts_of(data))
        assert index.add_vectors(vectors, vectors.values()) == len(vectors)
        yield data, vectors, index


def expected_scores(data, vectors, seeds, share):
    weights = seeds if isinstance(seeds, dict) else dict.fromkeys(seeds, 1.0)
    plain = lift_scores(data, seeds, rarity=RARITY)
    return meaning_scores(plain, vectors, weights, share)


@pytest.mark.parametrize("share", [0.25, 1, 2])
@pytest.mark.parametrize("n_seeds", [1, 3, 8])
def test_scores_equal_their_definition(built, n_seeds, share):
    data, vectors, index = built
    reading, seeds = index.items("documents"), random.Random(n_seeds).sample(sorted(set(data) - {"i5"}), n_seeds)
    options = {"vectors": share, "feedback": 0}
    hits = reading.expand(seeds, 100, explain=True, **options)
    same_scores(hits, expected_scores(data, vectors, seeds, share), seeds, 1e-6)
    for hit in hits:
        assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, abs=1e-9)
        explained = reading.explain(seeds, hit.item, **options)
        assert explained.score == pytest.approx(hit.score, abs=1e-12)
        assert explained.base == pytest.approx(0, abs=1e-12)
    by_name = {hit.item: {part.feature for part in hit.features} for hit in hits}
    assert all(("like in meaning" in own) == (item != "i5") or item == "i5" for item, own in by_name.items())


@pytest.mark.parametrize("n_seeds", [1, 3])
def test_vectors_say_which_items_join_and_these_are_in_the_centroid(built, n_seeds):
    data, vectors, index = built
    reading, seeds = index.items("documents"), random.Random(n_seeds).sample(sorted(data), n_seeds)
    expected = feedback_scores(data, seeds, 0.25, LEAST, slope=0.8, vectors=vectors, share=1.0)
    hits = reading.expand(seeds, 100, explain=True)
    same_scores(hits, expected, seeds, 5e-7)
    explained = reading.explain(seeds, hits[0].item)
    assert explained.score == pytest.approx(hits[0].score, abs=1e-12)


@pytest.mark.parametrize("n_seeds", [1, 3, 8])
def test_vectors_of_an_encoder_count_by_how_they_vary(tmp_path, n_seeds):
    """The direction of the largest variances, which most items share, counts less."""
    data = random_data(3, 60, 50, 0.2)
    vectors, texts = random_vectors(data, size=60), dict(texts_of(data))
    vectors = {name: [3 * sum(own), *own[1:]] for name, own in vectors.items()}
    by_text = {texts[name]: own for name, own in vectors.items()}
    encoder = Table(by_text)
    seeds = random.Random(n_seeds).sample(sorted(data), n_seeds)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off", encoder=encoder) as index:
        index.add(texts.items())
        index.refresh("now")
        hits = index.items("documents").expand(seeds, 100, feedback=0, vectors=1)
    plain, weights = lift_scores(data, seeds, rarity=RARITY), dict.fromkeys(seeds, 1.0)
    expected = meaning_scores(plain, vectors, weights, 1.0, shrinkage=20)
    same_scores(hits, expected, seeds, 1e-4)
    other = meaning_scores(plain, vectors, weights, 1.0)
    assert max(abs(expected[hit.item] - other[hit.item]) for hit in hits) > 0.005


class Table:
    """An encoder that knows some texts."""

    name = "table"

    def __init__(self, vectors):
        self.vectors = vectors

    def __call__(self, texts):
        return np.array([self.vectors[text] for text in texts], np.float32)


@pytest.mark.parametrize(("n", "size"), [(300, 12), (12, 40), (6000, 16)])
def test_the_inverse_is_that_of_the_covariance_in_any_order(n, size):
    generator = np.random.default_rng(n)
    values = generator.normal(size=(n, size)) * np.linspace(9, 1, size)
    rows = np.rint(127 * values / np.abs(values).max(axis=1, keepdims=True)).astype(np.int8)
    inverse = inverse_spread(rows)
    assert inverse_spread(rows[generator.permutation(n)]).tolist() == inverse.tolist()
    covariance = np.cov(rows.T.astype(float), bias=True)
    expected = np.linalg.inv(covariance + 20 * np.trace(covariance) / size * np.eye(size))
    found = inverse * (np.trace(expected) / np.trace(inverse))
    assert np.abs(found - expected).max() < (0.02 if n > ENOUGH else 2e-3) * expected.max()


def test_what_does_not_vary_or_is_large_has_no_inverse():
    assert inverse_spread(np.full((9, 12), 7, np.int8)) is None
    assert inverse_spread(np.ones((9, 4), np.int8)) is None
    assert inverse_spread(np.ones((9, 1024), np.int8)) is None


def test_weights_of_seeds_are_those_of_their_vectors(built):
    _, vectors, index = built
    seeds = {"i1": 1.0, "i2": 0.25, "i5": 0.5}
    plain = {hit.item: hit.score for hit in index.items("documents").expand(seeds, 100, vectors=0, feedback=0)}
    both = index.items("documents").expand(seeds, 100, keep_seeds=True, feedback=0)
    scores = {
        hit.item: hit.score
        for hit in index.items("documents").expand(seeds, 100, keep_seeds=True, vectors=0, feedback=0)
    }
    expected = meaning_scores(scores, vectors, seeds, 1.0)
    assert {hit.item: hit.score for hit in both} == pytest.approx(expected, abs=5e-7)
    assert set(plain) == set(expected) - set(seeds)


def test_a_set_without_vectors_is_asked_as_without(built):
    index = built[2]
    documents = index.items("documents")
    assert documents.expand(["i5"], 20, feedback=0) == documents.expand(["i5"], 20, vectors=0, feedback=0)
    assert documents.expand(["i1"], 5, model="bernoulli") == documents.expand(["i1"], 5, model="bernoulli", vectors=0)
    with pytest.raises(errors.InvalidParameter, match="vectors needs the model lift"):
        documents.expand(["i1"], vectors=1, model="bernoulli")
    with pytest.raises(errors.InvalidParameter, match="vectors must be a number from 0"):
        documents.expand(["i1"], vectors=-1)


def test_filters_apply_before_the_best_are_taken(built):
    documents = built[2].items("documents")
    every = documents.expand(["i1", "i2"], 100)
    among = [hit.item for hit in every[30:]]
    assert [(hit.item, hit.score) for hit in documents.expand(["i1", "i2"], 5, among=among)] == [
        (hit.item, hit.score) for hit in every[30:35]
    ]
    marked = documents.expand(["i1", "i2"], 100, cut="mark")
    assert [hit.belongs for hit in marked] == sorted([hit.belongs for hit in marked], reverse=True)


def test_neither_the_order_of_writes_nor_kernels_change_a_bit(built, tmp_path):
    data, vectors, index = built
    asked = {"k": 60, "exclude": ["i3"]}
    expected = index.items("documents").expand(["i1", "i2"], **asked)
    names = list(vectors)[::-1]
    with setsearch.open(tmp_path / "b.db", create=True) as other:
        other.add(texts_of(data)[::-1])
        other.add_vectors(names[:20], np.array([vectors[name] for name in names[:20]]))
        other.add_vectors(names[20:], [np.array(vectors[name], "<f8") * 7 for name in names[20:]])
        assert other.items("documents").expand(["i1", "i2"], **asked) == expected
        for found in with_kernels(lambda: other.items("documents").expand(["i1", "i2"], **asked)):
            assert found == expected


def test_writes_of_items_and_vectors_are_followed(tmp_path):
    data = random_data(4, 30, 30, 0.2)
    vectors = random_vectors(data)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts_of(data))
        documents = index.items("documents")
        without = documents.expand(["i1"], 30)
        index.add_vectors(vectors, vectors.values())
        assert documents.expand(["i1"], 30) != without
        changed = vectors | {"i7": vectors["i1"]}
        index.add_vectors(["i7"], [vectors["i1"]])
        assert documents.expand(["i1"], 1, vectors=9)[0].item == "i7"
        index.delete(["i7", "i8"])
        left = {name: own for name, own in data.items() if name not in ("i7", "i8")}
        kept = {name: vector for name, vector in changed.items() if name in left}
        same_scores(documents.expand(["i1"], 30, feedback=0), expected_scores(left, kept, ["i1"], 1), ["i1"], 5e-7)
        index.add([("i7", "w1 w2 w3"), ("new", "w1")])  # ids that were free; no vectors
        assert index.info()["vectors"]["documents"]["count"] == 28
        index.update([("i9", "w1 w2")])  # the user's vectors stay
        assert index.info()["vectors"]["documents"]["count"] == 28
        index.replace(texts_of(data)[:10])
        assert index.info()["vectors"]["documents"]["count"] == len(set(list(data)[:10]) & set(kept))
        assert documents.expand(["i2"], 3, explain=True)
        assert index.check() == []


def test_vectors_of_features_follow_their_ids(tmp_path):
    """A feature that is gone leaves its id to another one, and may come back."""
    films = {f"f{n}": ["red", "blue", f"c{n % 4}"] for n in range(8)}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([*films.items(), ("x", ["red", "zebra"])], ("film", "user"))
        vectors = {"red": [1, 0, 0], "zebra": [1, 0.1, 0], "blue": [0, 1, 0], "c0": [0, 0, 1]}
        index.add_vectors(list(vectors), list(vectors.values()), items="user")
        assert index.items("user").expand(["red"], 2)
        for write in (
            lambda: (index.delete(["x"], ("film", "user")), index.add([("y", ["blue", "yak"])], ("film", "user"))),
            lambda: index.add([("z", ["red", "zebra"])], ("film", "user")),
        ):
            write()
            with setsearch.open(tmp_path / "a.db") as new:
                assert index.items("user").expand(["red"], 9) == new.items("user").expand(["red"], 9)


def test_words_that_are_no_items_any_more_have_no_vector(tmp_path):
    """Encoded words that left the collection would count in the spread of all vectors."""
    texts = [(f"d{n}", f"red green blue color{n % 3} paint wall") for n in range(8)]

    def encode(names):
        return np.array([[len(name), name.count("e") + 1, sum(map(ord, name)) % 11] for name in names], np.float32)

    with (
        setsearch.open(tmp_path / "a.db", create=True, contexts="on", encoder=encode) as index,
        setsearch.open(tmp_path / "b.db", create=True, contexts="on", encoder=encode) as fresh,
    ):
        index.add([*texts, ("x1", "zebra horse red green"), ("x2", "zebra horse blue wall")])
        index.refresh("now")
        index.delete(["x2"])
        index.refresh("now")
        fresh.add([*texts, ("x1", "zebra horse red green")])
        fresh.refresh("now")
        for by in ("documents", "both"):
            hits, others = (one.items("terms").expand(["red"], 20, by=by) for one in (index, fresh))
            assert [(hit.item, hit.score) for hit in hits] == [(hit.item, hit.score) for hit in others]


def test_vectors_as_tables_have_them(built, tmp_path):
    data, vectors, index = built
    connection = sqlite3.connect(tmp_path / "host.db")
    connection.execute("create table embedding (id text, vector blob)")
    rows = [(name, np.array(vector, "<f4").tobytes()) for name, vector in vectors.items()]
    connection.executemany("insert into embedding values (?, ?)", rows)
    with setsearch.open(connection) as other:
        other.add(texts_of(data))
        other.add_vectors(*zip(*connection.execute("select id, vector from embedding").fetchall(), strict=True))
        assert other.items("documents").expand(["i1"], 9) == index.items("documents").expand(["i1"], 9)
        assert connection.in_transaction
    connection.rollback()
    connection.close()


def test_wrong_vectors_are_refused_and_nothing_is_written(built):
    index = built[2]
    before = index.items("documents").expand(["i1"], 5)
    good = [1.0] * SIZE
    for ids, vectors, error, message in [
        (["i1", "nobody"], [good, good], errors.UnknownItem, "no 'nobody' among"),
        (["i1", "i1"], [good, good], errors.DuplicateItem, "occurs twice"),
        (["i1"], [[0.0] * SIZE], errors.InvalidItem, "'i1' has no direction"),
        (["i1"], [[float("nan")] * SIZE], errors.InvalidItem, "'i1' has no direction"),
        (["i1"], [good[1:]], errors.InvalidItem, "have 12 numbers, not 11"),
        (["i1", "i2"], [good, good[1:]], errors.InvalidItem, "'i2' has 11 numbers, that of 'i1' 12"),
        (["i1", "i2"], [good], errors.InvalidItem, "2 ids and 1 vector;"),
        (["i1"], ["[1, 2"], errors.InvalidItem, "'i1' is no row of numbers"),
        (["i1"], [b"abc"], errors.InvalidItem, "'i1' is no row of numbers"),
        ([7], [good], errors.UnknownItem, "no '7' among"),
    ]:
        with pytest.raises(error, match=message):
            index.add_vectors(ids, vectors)
    assert index.items("documents").expand(["i1"], 5) == before


def test_films_and_words_have_vectors_too(tmp_path):
    data = random_data(5, 40, 30, 0.3)
    vectors = random_vectors(data)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
        users = sorted({user for own in data.values() for user in own})
        index.add_vectors(vectors, vectors.values())
        index.add_vectors(users, random_vectors(users, 2).values(), "user")
        plain = lift_scores(data, ["i1", "i2"], slope=1.0, binarization="presence")
        expected = meaning_scores(plain, vectors, {"i1": 1, "i2": 1}, 1.0)
        same_scores(index.items("film").expand(["i1", "i2"], 40), expected, ["i1", "i2"], 5e-7)
        likes = index.items("film").expand(["i1"], 5, purpose="likes")
        assert likes == index.items("film").expand(["i1"], 5, purpose="likes", vectors=0)
        assert index.items("user").expand(users[:2], 5) != index.items("user").expand(users[:2], 5, vectors=0)
        assert index.info()["vectors"]["user"] == {
            "source": "own",
            "encoder": None,
            "count": len(users),
            "dimensions": 12,
        }


def test_a_damaged_vector_is_noticed(built, tmp_path):
    data, vectors, _ = built
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts_of(data))
        index.add_vectors(vectors, vectors.values())
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("update setsearch_vector set vector = zeroblob(16) where name = 'i2'")
    connection.commit()
    connection.close()
    with setsearch.open(tmp_path / "a.db") as index:
        with pytest.raises(errors.CorruptIndex, match="vector of 'i2' is damaged"):
            index.items("documents").expand(["i1"])
        assert any("vector of 'i2' is damaged" in line for line in index.check())
        assert "documents: deleted 1 damaged vector" in index.repair()
        assert index.check() == []
        assert index.info()["vectors"]["documents"]["count"] == len(vectors) - 1
        assert index.items("documents").expand(["i1"])


@pytest.mark.parametrize(
    "stored", ["[]", "7", "{", '["own", 1.5, "", 1, null]', '["own", -1, "", 1, null]', '["mine", 12, "", 1, null]',
               '["own", 12, 3, 1, null]', '["own", 12, "", 1, 5]']
)  # fmt: skip
def test_a_hostile_description_of_vectors_is_one_line(built, tmp_path, stored):
    data, vectors, _ = built
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts_of(data))
        index.add_vectors(vectors, vectors.values())
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("update setsearch_kind set vectors = ? where name = 'documents'", (stored,))
    connection.commit()
    connection.close()
    with setsearch.open(tmp_path / "a.db") as index:
        with pytest.raises(errors.CorruptIndex, match="where the vectors of documents come from is damaged"):
            index.items("documents").expand(["i1"])
        assert index.check() != []


def test_vectors_of_zeros_in_a_file_break_nothing(built, tmp_path):
    data, vectors, _ = built
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts_of(data))
        index.add_vectors(vectors, vectors.values())
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("update setsearch_vector set vector = ? where name = 'i2'", (add_checksum(bytes(SIZE), "i2"),))
    connection.commit()
    connection.close()
    with setsearch.open(tmp_path / "a.db") as index:
        assert all(np.isfinite(hit.score) for hit in index.items("documents").expand(["i2"], 60))


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), min_size=1, max_size=60), st.randoms())
@examples(100)
def test_moments_do_not_depend_on_the_order(values, shuffler):
    mean, deviation = moments(np.array(values))
    largest = max(map(abs, values), default=0)
    assert mean == pytest.approx(np.mean(values), abs=largest * 1e-6)
    assert deviation == pytest.approx(np.std(values), abs=largest * 1e-3)
    shuffler.shuffle(values)
    assert moments(np.array(values)) == (mean, deviation)


def test_examples_whose_vectors_cancel_say_nothing_by_meaning():
    index = setsearch.open(sqlite3.connect(":memory:"), contexts="off")
    index.add([("a", "lion tiger cat"), ("b", "wheat barley field"), ("c", "lion wheat"), ("d", "lion field cat")])
    index.add_vectors(["a", "b"], [[7, -8, -5, -2], [9, -5, 8, -7]], "documents")
    documents = index.items("documents")
    found, without = (documents.expand(["a", "b"], 9, keep_seeds=True, **own) for own in ({}, {"vectors": 0}))
    assert [(hit.item, hit.score) for hit in found] == [(hit.item, hit.score) for hit in without]


@given(seed=st.integers(0, 999), n_seeds=st.integers(0, 9), shared=st.integers(0, 40), least=st.floats(-1, 3))
@examples(60)
def test_examples_are_alike_by_the_mean_cosine_of_their_pairs(seed, n_seeds, shared, least):
    """In deviations of random pairs, whatever the order; one without a vector, or of weight 0, is none of them."""
    chance = np.random.default_rng(seed)
    rows = chance.integers(-60, 60, (50, SIZE))
    seeds = chance.permutation(52)[:n_seeds]  # two items have no vector
    rows[seeds[seeds < 50]] += shared
    vectors, used = Vectors(np.arange(50), rows.astype(np.int8), "own"), [id for id in sorted(seeds) if id < 50]
    found = {are_alike(vectors, Examples(own.tolist()), least) for own in (seeds, seeds[::-1])}
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    units -= units.mean(axis=0)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    if len(used) < 2:
        assert found == {None}
        return
    cosines = [units[one] @ units[other] for one in used for other in used if one < other]
    centroid = units[used].sum(axis=0)
    deviations = np.mean(cosines) / np.std(units @ centroid / np.linalg.norm(centroid)) * len(cosines) ** 0.5
    assert found == {bool(deviations > least)} or abs(deviations - least) < 1e-4
    weighted = Examples([*used, *{*range(50)}.difference(used)], weights=np.array([1.0] * len(used) + [0.0] * 50))
    weighted = Examples(weighted.ids[: len(used) + 1], weights=weighted.weights[: len(used) + 1])
    assert {are_alike(vectors, weighted, least)} == found
