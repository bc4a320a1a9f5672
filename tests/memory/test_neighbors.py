"""Scores of words smoothed over their nearest words: equal to the definition, with any kernel, after any damage."""

import random
import shutil
import sqlite3
from itertools import product
from statistics import median

import numpy as np
import pytest
from oracle import RARITY, lift_scores, line_of, meaning_scores, ranking, same_scores, similarities, smoothed_scores
from samples import KERNELS, delete_arrays, with_kernels
from test_contexts import CONTEXTS, FIELDS, fields_of, random_texts, random_titles

import setsearch
from setsearch import errors
from setsearch.arrays import ListValues
from setsearch.core import binding
from setsearch.memory.contexts import neighbors
from setsearch.memory.contexts.neighbors import NEAREST, UNIT
from setsearch.models.defaults import TERMS
from setsearch.scoring import best
from setsearch.search import weights
from setsearch.storage import generations
from setsearch.storage.generations import find_generation, json_array
from setsearch.storage.relation import load_relations

LATENT = TERMS.vectors.latent
SETS = (["apple"], ["lion", "tiger"], ["red", "green", "blue"], {"lion": 2, "pear": 0.5, "wolf": 0})


@pytest.fixture(scope="module", params=range(4))
def built(request, tmp_path_factory):
    """The fields of some texts by their definition, the terms, and the similarities of the nearest words to each."""
    texts = random_texts(request.param)
    rows = random_titles(texts, request.param)
    with setsearch.open(tmp_path_factory.mktemp("near") / "a.db", create=True, contexts="on") as index:
        index.add(rows)
        terms = index.items("terms")
        fields = fields_of(texts, {id: title for id, _, title in rows})
        yield fields, terms, ten_nearest(fields, nearest_of(terms))


def nearest_of(terms):
    """Word -> its nearest words and their similarities, as stored."""
    with terms.fields(by="both") as fields:
        neighbors, words = fields.nearest(), fields.items.words
    sums = np.zeros(len(words))
    found = {}
    for place, word in enumerate(words):
        shares = neighbors.shares[place]
        found[word] = {words[id]: share for id, share in zip(neighbors.ids[place], shares, strict=True) if share}
        sums[place] = shares.sum()
    assert set(np.round(sums, 9).tolist()) <= {0.0, 1.0}
    return found


def change(path, statement):
    """Write to the file as a stranger."""
    connection = sqlite3.connect(path)
    assert connection.execute(statement).rowcount > 0
    connection.commit()
    connection.close()


def definition(fields, seeds, which=FIELDS):
    """Scores by features, of all words."""
    weights = seeds if isinstance(seeds, dict) else dict.fromkeys(seeds, 1.0)
    total = dict.fromkeys(fields["win2"], 0.0)
    for field in which:
        for word, score in lift_scores(fields[field], weights, rarity=RARITY).items():
            total[word] += FIELDS[field] * score
    return total, {seed for seed, weight in weights.items() if weight}, sum(weights.values())


def with_meaning(terms, scores, seeds, share=LATENT, left_out=None):
    """Scores with the part of the latent vectors that the index has."""
    with terms.fields(by="both") as own:
        words, vectors = own.items.words, own.vectors()
    rows = {words[id]: row for id, row in zip(vectors.ids.tolist(), vectors.rows.tolist(), strict=True)}
    weights = seeds if isinstance(seeds, dict) else dict.fromkeys(seeds, 1.0)
    return meaning_scores(scores, rows, weights, share, left_out=left_out)


def ten_nearest(fields, shares):
    """The similarities, by definition, of the words that an index takes for the nearest: no others are nearer."""
    every, found = similarities(fields, FIELDS), {}
    for word, own in shares.items():
        known = every[word]
        assert len(own) == min(NEAREST, len(known))
        assert all(known[other] > 0 for other in own)
        if len(known) > NEAREST:
            assert min(known[other] for other in own) >= sorted(known.values())[-NEAREST] - 1e-5
        total = sum(known[other] for other in own)
        assert own == pytest.approx({other: known[other] / total for other in own}, abs=1e-3)
        found[word] = {other: round(known[other] * UNIT) / UNIT for other in own}
    return found


@pytest.mark.parametrize("seeds", SETS, ids=str)
def test_scores_equal_the_definition(built, seeds):
    fields, terms, nearest = built
    for by, which in (("both", FIELDS), ("contexts", CONTEXTS)):
        scores, counted, total = definition(fields, seeds, which)
        for options in ({}, {"neighbors": 0.5}, {"vectors": 0}, {"vectors": 2}):
            expected = smoothed_scores(scores, nearest, counted, total, options.get("neighbors", 1.0))
            if options.get("vectors", LATENT):
                expected = with_meaning(terms, expected, seeds, options.get("vectors", LATENT))
            same_scores(terms.expand(seeds, 99, by=by, **options), expected, seeds, 2e-4)
    for hit in terms.expand(seeds, 99, explain=True):
        assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, abs=1e-9)
        assert terms.explain(seeds, hit.item).score == pytest.approx(hit.score, abs=1e-9)
        assert "near to few words" in {part.feature for part in hit.features}


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
def test_a_question_about_words_is_one_call_of_the_core(built, monkeypatch):
    """Weights, sums, neighbors, latent vectors and the best words, one or all of them: the bits of numpy."""
    _, terms, _ = built
    for seed in ("apple", "lion", "tiger", "red", "green"):
        terms.expand([seed])  # lists have values now
    hows = [*product(({}, {"neighbors": 0, "feedback": 0}), ({}, {"vectors": 2}, {"vectors": 0}))]
    asked = [(seeds, k, one | other) for seeds in SETS[:2] for k in (1, 99) for one, other in hows]

    def answers():
        """Words and scores."""
        found = [terms.expand(seeds, k, **how) for seeds, k, how in asked]
        found += terms.expand_many([["lion"], ["apple", "red"]], 3)
        return [[(hit.item, hit.score) for hit in hits] for hits in found]

    expected = with_kernels(answers)
    monkeypatch.setattr(binding, "add", lambda *_: pytest.fail("add"))
    for name in ("best", "smooth"):
        monkeypatch.setattr(weights, name, lambda *_, name=name: pytest.fail(name))
    setsearch.use_kernel("core")
    assert [answers()] * len(expected) == expected


@pytest.mark.parametrize("seeds", SETS, ids=str)
def test_the_nearest_words_are_named_with_their_parts(built, seeds):
    fields, terms, nearest = built
    scores, counted, total = definition(fields, seeds)
    halved = {word: sum(own.values()) for word, own in nearest.items()}
    middle = median([own for own in halved.values() if own])
    own = {w: s * min(max((middle / halved[w]) ** 0.5, 2 / 3), 3 / 2) if halved[w] else s for w, s in scores.items()}
    best = max(0.0, *(score for word, score in own.items() if word not in counted))
    own |= dict.fromkeys(counted, best)
    for hit in terms.expand(seeds, 99, explain=True):
        near = {part.feature: part.weight for part in hit.features if part.feature.startswith("used like ")}
        of_all = halved[hit.item] or 1.0
        expected = {f"used like {w}": (0.5 + 2 / total) * a / of_all * own[w] for w, a in nearest[hit.item].items()}
        assert near == pytest.approx({name: part for name, part in expected.items() if part}, abs=2e-4)
        assert sum(reason.weight for reason in hit.reasons) == sum(part.weight for part in hit.features) == hit.score
        labels = [reason.label for reason in hit.reasons if reason.label != "used like them overall"]
        label = next(label for label in labels if label.startswith("used like "))
        assert label.removeprefix("used like ").split(",")[0].split(" and ")[0] in nearest[hit.item]


@pytest.mark.parametrize("seeds", [["apple"], ["lion", "tiger"], ["red", "green", "blue", "pear", "plum"]], ids=str)
def test_the_cut_equals_its_definition(built, seeds):
    fields, terms, nearest = built
    scores, counted, total = definition(fields, seeds)
    smoothed = smoothed_scores(scores, nearest, counted, total)
    found = with_meaning(terms, smoothed, seeds)
    order = [score for _, score in ranking(found, seeds)]
    middle = None
    if len(seeds) > 1:
        left_out = {}
        for seed in seeds:
            others = [other for other in seeds if other != seed]
            alone = definition(fields, others)[0][seed]
            left_out[seed] = smoothed_scores(scores | {seed: alone}, nearest, counted, total)[seed]
        left_out = with_meaning(terms, smoothed, seeds, left_out=left_out)
        middle = median(left_out.values())
    tau = line_of(order, len(found), len(seeds), middle)
    kept = {hit.item for hit in terms.expand(seeds, 99, cut="keep")}  # also of seeds that share little
    assert all(
        (hit.item in kept) == (found[hit.item] > tau)
        for hit in terms.expand(seeds, 99)
        if abs(found[hit.item] - tau) >= 1e-3
    )


def test_any_kernel_finds_the_same(tmp_path):
    answers = []
    for kernel in KERNELS:
        setsearch.use_kernel(kernel)
        with setsearch.open(tmp_path / f"{kernel}.db", create=True, contexts="on") as index:
            index.add(random_texts(5).items())
            terms = index.items("terms")
            answers.append((nearest_of(terms), [terms.expand(seeds, 99, explain=True) for seeds in SETS]))
    assert answers[0] == answers[-1]


@pytest.mark.parametrize("n", [3, 700, 33_000])
def test_any_kernel_fills_the_same_rows(n):
    """Also of more words than the core scores together, with ties, and with fewer neighbors than there is room for."""
    rng = np.random.default_rng(n)
    parts, having, kept, words = [], [], rng.random(n) < 0.5, np.array([0, n // 2, n - 1])
    for _ in range(2):
        sizes = rng.integers(0, min(n, 60), 40)
        ids = np.concatenate([np.sort(rng.choice(n, size, replace=False)) for size in sizes])
        ends = np.cumsum(sizes)
        parts.append((ids.astype(np.int32), rng.integers(1, 4, len(ids)) / 16, ends - sizes, ends))
        features = rng.permutation(40).astype(np.int32)
        having.append(ListValues(features, rng.integers(1, 4, 40) / 16, np.array([25, 0, 15]), 1.0))
    kept[words] = False

    def rows(kept):
        """The ids and similarities of these words, and of those into whose rows they come."""
        rng, found = np.random.default_rng(n), np.zeros((2, n, NEAREST), np.int64)
        if kept is not None:
            known = np.sort(rng.choice(n, (n, min(n, NEAREST) - 1)), axis=1)
            similarities = np.broadcast_to(UNIT >> np.arange(7, 7 + known.shape[1]), known.shape)
            found[:, kept, : known.shape[1]] = np.stack([known, similarities])[:, kept]
        neighbors._fill(words, parts, having, kept, tuple(found))
        return found.tolist()

    for mask in (None, kept):
        answers = with_kernels(lambda mask=mask: rows(mask))
        assert answers[0] == answers[-1]
        assert n == 3 or any(map(any, answers[0][1]))


@pytest.mark.parametrize("n", [3, 200])
def test_the_core_compares_each_pair_once(n):
    """The rows are those that each word has by itself, as numpy finds them."""
    rng = np.random.default_rng(n)
    features = [np.sort(rng.choice(n, rng.integers(1, min(n, 40)), replace=False)) for _ in range(30)]
    values = [rng.integers(1, 4, len(own)) / 64 for own in features]
    ends = np.cumsum([len(own) for own in features])
    ids = np.concatenate(features).astype(np.int32)
    own = [np.array([f for f, ids in enumerate(features) if word in ids], np.int64) for word in range(n)]
    weights = [values[f][np.searchsorted(features[f], word)] for word in range(n) for f in own[word].tolist()]
    of_words = [ListValues(np.concatenate(own).astype(np.int32), np.array(weights), np.array([*map(len, own)]), 1.0)]

    def rows():
        found, are_all = np.zeros((2, n, NEAREST), np.int64), best.is_core()
        part = ids, np.concatenate(values), np.append(0, ends[:-1]), ends
        kept = np.ones(n, bool) if are_all else None
        neighbors._fill(np.arange(n), [part], of_words, kept, tuple(found))
        if are_all:
            assert part[2].tolist() == ends.tolist()
        return found.tolist()

    answers = with_kernels(rows)
    assert answers[0] == answers[-1]
    assert any(map(any, answers[0][1]))


def arrays_of(path):
    """The words of an index, their nearest ones, and their marks, as stored."""
    cursor = sqlite3.connect(path).cursor()
    earlier = neighbors.read_earlier(find_generation(load_relations(cursor)[0]))
    cursor.connection.close()
    return earlier


def rows_of(earlier):
    return list(earlier.words), earlier.ids.tolist(), earlier.similarities.tolist()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_that_a_write_does_not_change_are_carried(tmp_path, monkeypatch, seed, kernel):
    """After any writes, however many words they change, rows are those of a new index."""
    monkeypatch.setattr(neighbors, "LARGEST_SHARE", 1.0)
    setsearch.use_kernel(kernel)
    rng, held, stayed, lost = random.Random(seed), spread_texts(seed, 60), 0, 0
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
        index.refresh("now")
        for step in range(8):
            before = arrays_of(tmp_path / "a.db")
            for name in rng.sample(sorted(held), rng.choice([0, 1, 1, 2])):
                index.delete([name])
                del held[name]
            new = {
                f"n{step}": own for own in list(spread_texts(f"{seed} {step}", 60).values())[: rng.choice([0, 1, 1])]
            }
            held |= new
            index.update(new.items())
            index.refresh("now")
            after = arrays_of(tmp_path / "a.db")
            marks = dict(zip(before.words, before.marks.tolist(), strict=True))
            same = [marks.get(word) == own for word, own in zip(after.words, after.marks.tolist(), strict=True)]
            stayed, lost = stayed + sum(same), lost + len(same) - sum(same)
            with setsearch.open(tmp_path / f"{step}.db", create=True, contexts="on") as fresh:
                fresh.add(sorted(held.items()))
                fresh.refresh("now")
            assert rows_of(after) == rows_of(arrays_of(tmp_path / f"{step}.db")), step
    assert stayed > 20
    assert lost > 20


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_are_the_same_in_any_number_of_threads(tmp_path, monkeypatch, kernel):
    """Whichever thread compares two words: of a new index, and where most rows are carried."""
    setsearch.use_kernel(kernel)
    monkeypatch.setattr(neighbors, "LARGEST_SHARE", 1.0)
    found = []
    for threads, words in ((0, 512), (1, 7), (8, 1)):
        monkeypatch.setenv("SETSEARCH_THREADS", str(threads))
        monkeypatch.setattr(neighbors, "WORDS_OF_STEP", words)
        with setsearch.open(tmp_path / f"{threads}.db", create=True, contexts="on") as index:
            index.add(spread_texts(1, 60).items())
            index.refresh("now")
            found.append([rows_of(arrays_of(tmp_path / f"{threads}.db"))])
            index.add([("new", "the red lion and the green pear of the wolf")])
            index.refresh("now")
            found[-1].append(rows_of(arrays_of(tmp_path / f"{threads}.db")))
    assert found[1:] == found[:-1]
    assert all(any(map(all, similarities)) for _, _, similarities in found[0])


@pytest.fixture(scope="module")
def derived(tmp_path_factory):
    """A database with contexts, which nobody changes: tests have copies."""
    path = tmp_path_factory.mktemp("derived") / "a.db"
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(random_texts(1).items())
        index.refresh("now")
    return path


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            (name, value)
            for name in ("nearest words", "similarities", "marks of words")
            for value in (-1, 2**31, 2**62)
        ),
        ("nearest words", None),
        ("marks of words", None),
        *(("items", text) for text in ("7", '{"a": 1}', '[1, "a"]', '["b", "a"]', "[[]]", "no")),
    ],
)
def test_what_a_stranger_wrote_is_not_carried(derived, tmp_path, name, value):
    """Under right checksums: of other numbers, of another length, of no words; the rows are derived anew."""
    path = shutil.copy(derived, tmp_path)
    expected, connection = rows_of(arrays_of(path)), sqlite3.connect(path)
    cursor = connection.cursor()
    generation = find_generation(load_relations(cursor)[0])
    array = generation.array(name)
    new = (
        json_array(value)
        if isinstance(value, str)
        else array[:-1]
        if value is None
        else np.where(array > 0, value, array)
    )
    for own in generations._slices(name, new):
        _, _, slice_, data = generations._packed(generation.id, own)
        statement = "update setsearch_array set data = ? where generation = ? and name = ? and slice = ?"
        cursor.execute(statement, (data, generation.id, name, slice_))
    connection.commit()
    connection.close()
    with setsearch.open(path) as index:
        index.add([("one more", "quagga")])
        index.refresh("now")
    assert rows_of(arrays_of(path)) == expected


def spread_texts(seed, n):
    """Texts of which each has the words of one or two subjects."""
    rng = random.Random(seed)
    texts = {}
    for number in range(n):
        subject = rng.randrange(12)
        own = [f"w{(subject * 5 + rng.randrange(7)) % 60}" for _ in range(rng.randint(5, 15))]
        texts[f"d{number:02}"] = " ".join(own)
    return texts


def test_contexts_of_an_earlier_version_without_them_are_derived_anew(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(random_texts(1).items())
        index.refresh("now")
        expected = index.items("terms").expand(["apple"])
    change(tmp_path / "a.db", "delete from setsearch_array where name in ('nearest words', 'similarities')")
    delete_arrays(tmp_path / "a.db")
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("terms").expand(["apple"]) == expected


@pytest.mark.parametrize("name", ["nearest words", "similarities"])
def test_lost_neighbors_are_found_anew(tmp_path, name):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(random_texts(1).items())
        expected = index.items("terms").expand(["apple"])
    change(tmp_path / "a.db", f"update setsearch_array set data = x'00' where name = '{name}'")
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("terms").expand(["apple"]) == expected


def test_a_word_alone_has_no_neighbors(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add([("a", "apple apple apple")])
        index.refresh("now")
        assert index.items("terms").features(["apple"]) == index.items("terms").features(["apple"], neighbors=0)
    with setsearch.open(tmp_path / "b.db", create=True, contexts="on") as index:
        index.add([("a", "apple pear apple pear apple pear")])
        assert {hit.item for hit in index.items("terms").expand(["apple"])} == {"pear"}


def test_bad_weights_are_told(built):
    for wrong in (-1, "much", float("nan"), True):
        with pytest.raises(errors.InvalidParameter, match="neighbors must be a number from 0"):
            built[1].expand(["apple"], neighbors=wrong)
    with pytest.raises(errors.InvalidParameter, match="needs the model lift"):
        built[1].expand(["apple"], neighbors=0.5, model="bernoulli")
