"""Rejected items teach what separates them: scores equal the definition, and a rejection does no harm."""

import random

import numpy as np
import pytest
from oracle import corrected_scores, lift_scores, same_scores
from samples import planted, random_data, with_kernels

import setsearch
from setsearch.models import svm
from setsearch.models.svm import COST, Marked, fit, solve, svm_rule
from setsearch.search.rejected import SAMPLE, _sample, hashes

NEAR = 1e-5  # weights and values are rounded to 2^-22


@pytest.mark.parametrize("large", [30, 1000])
@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("twice", [False, True])
def test_scores_equal_the_definition(build, monkeypatch, case, large, twice):
    monkeypatch.setattr("setsearch.search.rejected.LARGE", large)
    data = random_data(case, 40, 25, 0.3)
    lift = lift_scores(data, ["i1", "i2"], slope=1.0, binarization="presence")
    for rejected in (["i3"], ["i5", "i4", "i9", "i0"]):
        expected = corrected_scores(data, lift, {"i1": 1, "i2": 1}, rejected, 1.0, large, twice)
        feedback = 0.25 if twice else None  # nobody joins where there are so few items
        hits = build(data).items("film").expand(["i2", "i1"], 100, exclude=rejected, explain=True, feedback=feedback)
        assert hits.learned
        same_scores(hits, expected, ["i1", "i2", *rejected], NEAR)
        for hit in hits:
            why = sum(part.weight for part in hit.features)
            assert why + hits.blank == pytest.approx(hit.score, abs=1e-9)


def test_seeds_have_weights_and_texts_are_examples(build, tmp_path):
    data = random_data(1, 40, 25, 0.3)
    reading = build(data).items("film")
    shares = {"i1": 2.0, "i2": 0.5}
    plain = {hit.item: hit.score for hit in reading.expand(shares, 100, keep_seeds=True)}
    plain |= dict.fromkeys(set(data) - set(plain), 0.0)
    same_scores(
        reading.expand(shares, 100, exclude=["i3"]),
        corrected_scores(data, plain, shares, ["i3"], 1.0),
        ["i1", "i2", "i3"],
        NEAR,
    )
    texts = {name: " ".join(counts) for name, counts in planted()[0].items()}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts.items())
        documents = index.items("documents")
        options = {"exclude": ["y-01"], "keep_seeds": True, "feedback": 0}
        by_name = {hit.item: hit.score for hit in documents.expand(["x-01"], 99, **options)}
        twice = {hit.item: hit.score for hit in documents.expand([], 99, like=[texts["x-01"]], **options)}
        assert [*by_name][1:6] == [item for item in twice if item != "x-01"][:5]


def test_kernels_give_the_same_bits(build):
    reading = build(random_data(3, 300, 60, 0.3)).items("film")
    found = with_kernels(lambda: reading.expand(["i3", "i8"], 400, exclude=["i5", "i6"]))
    assert all(hits == found[0] for hits in found)


def problem(seed, n_rows=60, n_columns=40):
    rng = np.random.default_rng(seed)
    dense = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.2)
    signs = np.where(rng.random(n_rows) < 0.3, 1.0, -1.0)
    rows, columns = np.nonzero(dense)
    weights = rng.random(n_rows) * 50 + 0.01
    return dense, Marked(rows, columns, dense[rows, columns], signs, weights, np.zeros(n_rows))


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_agrees_with_scikit_learn(seed):
    from sklearn.svm import LinearSVC

    dense, marked = problem(seed)
    weights, bias = fit(marked, dense.shape[1])
    machine = LinearSVC(C=COST, dual=True, tol=1e-9, max_iter=1_000_000, random_state=0)
    machine.fit(dense, marked.signs, marked.weights)
    assert np.allclose(weights, machine.coef_[0], rtol=0, atol=1e-6)
    assert bias == pytest.approx(machine.intercept_[0], abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_does_not_depend_on_the_order_of_examples(seed):
    """Weights agree to far below what they are rounded to."""
    _, marked = problem(seed, 300, 60)
    order = np.random.default_rng(seed).permutation(300)
    rows = np.argsort(order)[marked.rows]
    by_row = np.argsort(rows, kind="stable")
    entries = (own[by_row] for own in (rows, *marked[1:3]))
    moved = Marked(*entries, *(own[order] for own in marked[3:]))
    (weights, bias), (others, other) = fit(marked, 60), fit(moved, 60)
    assert np.allclose(weights, others, rtol=0, atol=1e-9) and bias == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_fit_multiplies_seldom(monkeypatch, seed):
    """Each product reads all entries twice; more of them would tell the weights closer than they are rounded to."""
    dense, marked = problem(seed, 600, 200)
    lengths = np.sqrt((dense**2).sum(1))
    marked = marked._replace(values=marked.values / lengths[marked.rows], weights=np.where(marked.signs > 0, 25.0, 1.0))
    asked = []

    def counted(products, *rest):
        return solve(lambda a: asked.append(a) or products(a), *rest)

    monkeypatch.setattr(svm, "solve", counted)
    fit(marked, 200)
    assert 10 < len(asked) < 90


def test_answers_do_not_depend_on_earlier_questions(build):
    """A question after thirty others, each with one decision more, has the bits of one that is asked first."""
    data = random_data(5, 300, 60, 0.3)
    asked, rejected = build(data).items("film"), [f"i{n}" for n in range(10, 40)]
    for count in range(1, 30):
        asked.expand(["i3", "i8"], 9, exclude=rejected[:count])
    expected = build(data).items("film").expand(["i3", "i8"], 300, exclude=rejected)
    assert asked.expand(["i3", "i8"], 300, exclude=rejected) == expected


def test_a_few_rejected_documents_change_little(tmp_path):
    """With a second pass, the order is nearly that without the rejected ones."""
    texts = {name: " ".join(counts) for name, counts in planted(3)[0].items()}
    sets = planted(3)[1]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts.items())
        documents = index.items("documents")
        for members in sets.values():
            others = sorted(set(texts) - set(members))
            found = {}
            for gamma in (0, None):
                hits = documents.expand(members[:3], len(members) - 3, exclude=others[:20], gamma=gamma)
                found[gamma] = sum(hit.item in members for hit in hits)
            assert found[None] >= found[0]


def test_given_scores_that_separate_by_themselves_stay():
    dense, marked = problem(0)
    weights, bias = fit(marked._replace(scores=2 * marked.signs), dense.shape[1])
    assert not weights.any() and not bias


def test_gamma_and_other_models_learn_nothing(build):
    reading = build(random_data(1, 40, 25, 0.3)).items("film")
    for options in ({"gamma": 0}, {"gamma": 0.5}, {"model": "bernoulli"}):
        assert not reading.expand(["i1"], 9, exclude=["i3"], **options).learned
    assert not reading.expand(["i1"], 9).learned


def test_the_more_are_marked_the_more_of_the_set_is_found(build):
    data, sets = planted(3)
    for name, members in sets.items():
        rng = random.Random(name)
        seeds = rng.sample(members, 2)
        rejected = rng.sample(sorted(set(data) - set(members)), 4)
        index = build(data)
        reading = index.items("film")
        precision = {}
        for gamma in (0, None):
            hits = reading.expand(seeds, 10, exclude=rejected, gamma=gamma)
            precision[gamma] = sum(hit.item in members for hit in hits)
        assert precision[None] >= precision[0]


def test_the_order_of_writes_does_not_matter(build):
    """Not for the fit, nor for the sample of the other items, also if many have the same norm."""
    data = random_data(4, 900, 50, 0.3) | {f"same{n}": {f"f{n % 3}": 1} for n in range(300)}
    asked = {"k": 1300, "exclude": ["i5", "i6", "i700"]}
    expected = build(data).items("film").expand(["i3", "i8"], **asked)
    turned = build(dict(reversed(data.items())))
    turned.update([("i9", {"f1": 1})], ("film", "user"))
    turned.update([("i9", data["i9"])], ("film", "user"))
    assert turned.items("film").expand(["i3", "i8"], **asked) == expected
    with turned.items("film").fields() as fields:
        norms, every = fields.first.statistics(svm_rule(1.0)).norms, fields.item_ids()
        for items in (every, every[::2], every[-300:], every[:SAMPLE]):
            order = np.lexsort((fields.ranks(items), hashes(norms[items])))
            assert _sample(fields, items, svm_rule(1.0)) == sorted(items[order[:SAMPLE]].tolist())


def test_few_items_after_deletes_answer_as_a_new_index(tmp_path):
    """The ids of deleted items stay out, though scores have no share where few items are left."""
    docs = ["pie dog cat blue", "cat cat dog blue", "cat cat pie cat", "blue dog dog blue"]
    docs += ["pie pie pie pie", "blue dog pie dog", "cat red cat dog"]
    names = [(f"d{n}", text) for n, text in enumerate(docs)]
    with (
        setsearch.open(tmp_path / "a.db", create=True) as index,
        setsearch.open(tmp_path / "b.db", create=True) as fresh,
    ):
        index.add(names)
        index.delete(["d0"])
        fresh.add(names[1:])
        for k in (1, 9):
            found = index.items("documents").expand(["d1"], k, exclude=["d2"])
            assert list(found) == list(fresh.items("documents").expand(["d1"], k, exclude=["d2"]))
        index.delete(["d4", "d5", "d6"])
        (hit,) = index.items("documents").expand(["d1"], 9, exclude=["d2"])
        assert hit.item == "d3"


def test_words_without_mail_hosts(tmp_path):
    """Rejecting one thing that looks like the examples does not open the door to everything else."""
    planets, hosts = "jupiter saturn neptune uranus venus mars".split(), [f"host{n}" for n in range(8)]
    rng = random.Random(0)
    lines = [f"the planet {rng.choice(planets)} orbits the sun with many moons" for _ in range(300)]
    lines += [f"the small world pluto orbits far from the sun and has ice {n}" for n in range(40)]
    lines += [f"mail from {rng.choice(hosts)} was sent to the server at noon" for _ in range(300)]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add((str(number), line) for number, line in enumerate(lines))
        index.refresh("now")
        words = index.items("terms")
        seeds = ["jupiter", "saturn", "neptune"]
        best = [hit.item for hit in words.expand(seeds, 3, exclude=["pluto"])]
        assert sorted(best) == ["mars", "uranus", "venus"]
        belonging = {hit.item for hit in words.expand(seeds, None, exclude=["pluto"], cut="keep")}
        assert not belonging & set(hosts)
