"""Metrics, and the baselines of benchmarks/relevance.py, by their definitions; the whole on planted sets."""

import json
import math
import random
import sys
from html import escape
from itertools import chain, permutations, product
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from oracle import lift_scores, log_scores, presence
from samples import planted, random_data

import setsearch
from setsearch import errors
from setsearch.learning import evaluate_sets
from setsearch.learning.choices import measure_groups, measures
from setsearch.learning.evaluation import Design, evaluate
from setsearch.search.passes import Weighing


def test_metrics():
    relevant = np.array([True, False, True, False, False, False, False, False, False, False, True, False])
    ap, p10, ndcg, r_precision = measures(relevant, -np.arange(12.0))
    assert ap == pytest.approx((1 / 1 + 2 / 3 + 3 / 11) / 3)
    assert p10 == pytest.approx(0.2)
    assert ndcg == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3) + 1 / math.log2(4)))
    assert r_precision == pytest.approx(2 / 3)


def plain(relevant):
    """The four measures of one order."""
    places = [place for place, is_relevant in enumerate(relevant, 1) if is_relevant]
    count = len(places)
    precision = sum(number / place for number, place in enumerate(places, 1)) / count
    gain = sum(1 / math.log2(place + 1) for place in places if place <= 10)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(count, 10) + 1))
    return precision, sum(place <= 10 for place in places) / 10, gain / best, sum(p <= count for p in places) / count


@examples(60)
@given(st.lists(st.tuples(st.sampled_from([3.0, 2.0, 1.5, 0.0]), st.booleans()), min_size=1, max_size=7))
def test_ties_count_as_the_mean_of_all_their_orders(rows):
    if not any(is_relevant for _, is_relevant in rows):
        return
    rows.sort(key=lambda row: -row[0])
    scores, relevant = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    groups = [relevant[scores == score].tolist() for score in dict.fromkeys(scores.tolist())]
    orders = [[*chain(*parts)] for parts in product(*(permutations(group) for group in groups))]
    expected = np.mean([plain(order) for order in orders], axis=0)
    assert measures(relevant, scores) == pytest.approx(expected)


sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))


def by_definition(data, seeds):
    """The ten baselines, one item and one feature at a time."""
    n, count = len(data), len(seeds)
    df, c = {}, {}
    for own in data.values():
        for f in own:
            df[f] = df.get(f, 0) + 1
    for seed in seeds:
        for f in data[seed]:
            c[f] = c.get(f, 0) + 1
    idf = {f: math.log(n / d) for f, d in df.items()}
    mean_length = sum(sum(own.values()) for own in data.values()) / n

    def cosine(weight):
        vectors = {i: {f: weight(f, tf) for f, tf in own.items()} for i, own in data.items()}
        norms = {i: math.sqrt(sum(w * w for w in v.values())) or 1.0 for i, v in vectors.items()}

        def score(item):
            return (
                sum(
                    sum(w * vectors[s].get(f, 0) for f, w in vectors[item].items()) / norms[item] / norms[s]
                    for s in seeds
                )
                / count
            )

        return score

    def additive(weight):
        return lambda item: sum(weight(f) for f in data[item] if f in c)

    def rsj(f):
        r, d = c[f], df[f]
        return math.log((r + 0.5) * (n - d - count + r + 0.5) / ((d - r + 0.5) * (count - r + 0.5)))

    def alpha_beta(f):
        return 2 * df[f] / n, 2 * (1 - df[f] / n)

    def log_odds(f):
        a, b = alpha_beta(f)
        return math.log((a + c[f]) / a) - math.log((b + count - c[f]) / b) if df[f] < n else 0.0

    def delta(f):
        a, b = alpha_beta(f)
        return math.log((a + c[f]) / a) - math.log((b + count - c[f]) / (b + count)) if df[f] < n else 0.0

    def occurrence(item, f, least):
        tf, relative = data[item][f], sum(data[item].values()) / mean_length
        return 2 * tf / (tf + (0.5 + 0.5 * max(relative, 0.5) if least else relative))

    gain = {f: rsj(f) * sum(occurrence(s, f, False) for s in seeds if f in data[s]) for f in c}
    chosen = [f for f in sorted(gain, key=lambda f: -gain[f])[:100] if gain[f] > 0]
    eset = {f: gain[f] * max(math.log((n - df[f] + 0.5) / (df[f] + 0.5)), 1e-6) for f in chosen}
    return {
        "overlap": additive(lambda f: c[f]),
        "cosine": cosine(lambda f, tf: 1.0),
        "idf cosine": cosine(lambda f, tf: idf[f]),
        "centroid": cosine(lambda f, tf: (1 + math.log(tf)) * idf[f]),
        "Jaccard": lambda i: (
            sum(len(data[i].keys() & data[s].keys()) / max(len(data[i].keys() | data[s].keys()), 1) for s in seeds)
            / count
        ),
        "Robertson-Sparck Jones": additive(rsj),
        "s * idf": additive(lambda f: c[f] * idf[f]),
        "log-odds without base": additive(log_odds),
        "Bayesian Sets without base": additive(delta),
        "weighted ESet-100": lambda i: sum(w * occurrence(i, f, True) for f, w in eset.items() if f in data[i]),
    }


@pytest.mark.parametrize("case", range(4))
def test_baselines_equal_their_definitions(build, case):
    from baselines import Baselines, count_matrix

    data = random_data(case, 25, 20, 0.3)
    with build(data).items("film").fields() as fields:
        methods = Baselines(count_matrix(fields)).all()
        ids = {name: fields.resolve(name) for name in data}
    seeds = ["i1", "i2", "i7"]
    expected = by_definition(data, seeds)
    assert expected.keys() == methods.keys()
    assert len(methods) == 10
    for name, score in methods.items():
        found = score(np.array([ids[seed] for seed in seeds]))
        for item in data:
            assert found[ids[item]] == pytest.approx(expected[name](item), abs=1e-9), (name, item)


def test_our_models_are_measured_as_they_rank(build):
    data, sets = planted()
    reading = build(data).items("film")
    with reading.fields() as fields:
        found = evaluate(Weighing(fields, reading.defaults.choose({})), {"x": sets["x"]}, Design(3, 1))
    by_name = {result.method: result for result in found.results}
    assert found.tasks == 1
    members = sorted(sets["x"])
    seeds = random.Random("0 x").sample(members, 3)
    others = [m for m in members if m not in seeds]
    for method, scores in (
        ("bernoulli", log_scores(presence(data), seeds)),
        ("lift", lift_scores(data, seeds, slope=1.0, binarization="presence")),
    ):
        order = sorted((i for i in data if i not in seeds), key=lambda i: (-round(scores[i], 5), i))
        relevant = np.array([i in others for i in order])
        rounded = np.array([round(scores[i], 5) for i in order])
        assert by_name[method].map == pytest.approx(measures(relevant, rounded)[0], abs=0.02)


@pytest.mark.long
def test_planted_sets_are_found(build):
    data, sets = planted()
    reading = build(data).items("film")
    with reading.fields() as fields:
        found = evaluate(Weighing(fields, reading.defaults.choose({})), sets | {"small": ["x-00", "zzz"]}, Design(3, 5))
        again = evaluate(Weighing(fields, reading.defaults.choose({})), sets | {"small": ["x-00", "zzz"]}, Design(3, 5))
        other = evaluate(Weighing(fields, reading.defaults.choose({})), sets, Design(3, 5, seed=1))
    assert found == again
    assert found.results != other.results
    assert (found.sets, found.tasks, found.left_out) == (3, 15, ["small"])
    assert [r.map for r in found.results] == sorted((r.map for r in found.results), reverse=True)
    best = next(r for r in found.results if r.method == "lift")
    assert best.low <= best.map <= best.high
    assert best.map > 0.6
    assert all(r.options is not None for r in found.results)
    assert "lift" in found.recommendation
    with reading.fields() as fields, pytest.raises(errors.NoSeeds, match="4 members"):
        evaluate(Weighing(fields, reading.defaults.choose({})), {"small": ["x-00"]}, Design(3))


def test_the_cut_is_measured(build):
    data, sets = planted()
    reading = build(data).items("film")
    with reading.fields() as fields:
        found = evaluate(Weighing(fields, reading.defaults.choose({})), {"x": sets["x"]}, Design(3, 1))
    members = sorted(sets["x"])
    seeds = random.Random("0 x").sample(members, 3)
    hits = reading.expand(seeds, 99, cut="mark")
    right = [hit.item in members for hit in hits]
    chosen = sum(hit.belongs for hit in hits)
    f1 = [2 * sum(right[:k]) / (k + len(members) - 3) for k in range(len(hits) + 1)]
    about = sum(hit.belongs for hit in reading.expand(seeds, 99, about=len(members) - 3))
    assert found.line == pytest.approx((f1[chosen], f1[about], max(f1), 1.0))
    with reading.fields() as fields:
        one = evaluate(Weighing(fields, reading.defaults.choose({})), {"x": sets["x"]}, Design(1, 2))
    assert one.line == (0.0, 0.0, 0.0, 0.0), "one film does not tell what belongs"
    assert "not told" in one.line.sentence() and found.groups is None, "films have no groups"


def documents(copies=0):
    """Documents of eight kinds of words, some of which come twice, and the sets of the kinds."""
    rng = random.Random(3)
    words = [[f"w{kind}x{n}" for n in range(25)] for kind in range(8)]
    texts = {f"d{n}": " ".join(rng.choices(words[n % 8], k=12) + rng.choices(words[n % 7], k=3)) for n in range(160)}
    texts |= {f"e{n}": texts[f"d{n}"] for n in range(copies)}
    sets = {f"kind {kind}": [name for name in texts if int(name[1:]) % 8 == kind] for kind in range(8)}
    return texts, sets


def precision(hits, members):
    """The average precision of a ranking without ties."""
    right = [hit.item in members for hit in hits]
    return sum(sum(right[: k + 1]) / (k + 1) for k, own in enumerate(right) if own) / sum(right)


def test_groups_are_measured(tmp_path):
    texts, sets = documents()
    sets |= {f"both {kind}": sets.pop(f"kind {kind}") + sets.pop(f"kind {kind + 1}") for kind in (0, 2, 4)}
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(texts.items())
        reading, names = index.items("documents"), sorted(sets)
        with reading.fields() as fields:
            members = {name: fields.resolve_known(own) for name, own in sets.items()}
            found = measure_groups(Weighing(fields, reading.defaults.choose({})), members, 6)
        apart, single, precisions = [], [], []
        for place, name in enumerate(names):
            rng, other = random.Random(f"0 groups {name}"), names[(place + 1) % len(names)]
            for _ in range(6):
                seeds = rng.sample([*reading.titles(sorted(sets[name], key=[*texts].index))], 4)
                hits = reading.expand(seeds, len(texts))
                single.append(len(hits.groups) > 1)
                if single[-1]:
                    one = reading.expand(seeds, len(texts), groups=1)
                    precisions.append([precision(own, sets[name]) for own in (hits, one)])
                pools = [sorted(sets[each], key=[*texts].index) for each in (name, other)]
                parts = [rng.sample(pool, 2) for pool in pools]
                apart.append({*map(frozenset, reading.expand(parts[0] + parts[1]).groups)} == {*map(frozenset, parts)})
    assert found.divided == np.mean(single) > 0 and found.apart == np.mean(apart) > 0.3
    in_turn, in_one = np.mean(precisions, axis=0)
    assert (found.in_turn, found.in_one) == pytest.approx((in_turn, in_one), abs=0.02), "places of ties differ"
    assert f"{found.divided:.0%} of the questions (MAP {found.in_turn:.3f}" in found.sentence()
    worse = found._replace(in_turn=0.4, in_one=0.5)
    assert worse.sentence().endswith("take --groups 1")


def test_a_copy_of_an_example_is_no_find(tmp_path):
    texts, sets = documents(copies=24)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(texts.items())
        reading = index.items("documents")
        with reading.fields() as fields:
            twice = evaluate(Weighing(fields, reading.defaults.choose({})), sets, Design(3, 2))
            once = {name: [each for each in own if each[0] == "d"] for name, own in sets.items()}
            alone = evaluate(Weighing(fields, reading.defaults.choose({})), once, Design(3, 2))
    assert (twice.copies, alone.copies) == (24, 0)
    assert twice.results == alone.results


def test_members_are_named_by_their_titles_too(tmp_path):
    texts, sets = documents(copies=0)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((name, text, f"The {name} (1999)") for name, text in texts.items())
        reading = index.items("documents")
        with reading.fields() as fields:
            expected = evaluate(Weighing(fields, reading.defaults.choose({})), sets, Design(3, 2))
            for way in ("The {} (1999)", "the {}"):
                titled = {name: [way.format(one) for one in own] + ["nobody"] for name, own in sets.items()}
                found = evaluate(Weighing(fields, reading.defaults.choose({})), titled, Design(3, 2))
                assert (found.results, found.unknown) == (expected.results, ("nobody",))
            with pytest.raises(errors.NoSeeds, match=r"no set has 4 members among the .* 2 are unknown, such as 'a'"):
                evaluate(Weighing(fields, reading.defaults.choose({})), {"x": ["a", "b"]}, Design(3, 2))
        index.update([("one", "w", "Hamlet"), ("two", "w", "Hamlet")])
        with reading.fields() as fields, pytest.raises(errors.AmbiguousItem, match="use one of the ids: 'one', 'two'"):
            evaluate(Weighing(fields, reading.defaults.choose({})), {"x": ["d0", "Hamlet"]}, Design(3, 2))


def test_terms_are_measured_in_context(tmp_path):
    rng = random.Random(0)
    groups = {"fruit": ["apple", "pear", "plum", "fig", "quince"], "cat": ["lion", "tiger", "lynx", "puma", "cheetah"]}
    frames = {"fruit": "ripe {} fell down", "cat": "the {} hunts there"}
    texts = [(f"d{n}", frames[g].format(rng.choice(groups[g]))) for n in range(300) for g in [rng.choice([*groups])]]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(texts)
        reading = index.items("terms")
        with reading.fields() as fields:
            found = evaluate(Weighing(fields, reading.defaults.choose({})), groups, Design(2, 3))
    scores = {result.method: result.map for result in found.results}
    assert scores["lift"] > 0.7
    assert scores["lift"] > scores["lift, by documents"]
    assert {"lift, by contexts", "bernoulli, by documents"} <= scores.keys()


def test_a_notebook_gets_rows_and_sentences(tmp_path):
    data, sets = planted()
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
        films = index.items("film")
        found = evaluate_sets(films, sets | {"small": ["x-00"], "odd": ["none"]}, seeds=2, draws=1)
        with films.fields() as own:
            same = evaluate(Weighing(own, films.defaults.choose({})), sets, Design(2, 1))
        assert found.results == same.results and found.n_seeds == 2
        frame = pandas.DataFrame(found.rows())
        assert [*frame.columns] == "method map low high p10 ndcg10 r_precision".split()
        assert [*frame["method"]] == [result.method for result in found.results]
        lines = str(found).splitlines()
        assert lines[0] == f"3 sets, 3 questions of 2 seeds; {found.recommendation}"
        one = evaluate_sets(films, dict([*sets.items()][:1]), seeds=2, draws=1)
        assert str(one).startswith("1 set, 1 question of 2 seeds; ")
        assert lines[-2:] == [
            "left out, fewer than 3 members that the index knows: odd, small",
            "left out, 1 unknown: none",
        ]
        shown = found._repr_html_()
        assert "<th>r_precision</th>" in shown and escape("; ".join(lines)) in shown
        for options, error, told in (
            ({"seeds": 0}, errors.InvalidParameter, "1 or more, not 0 and 10"),
            ({"fields": True}, errors.UsageError, "`fields` learns weights of several fields; the film have one"),
            ({"by": "contexts"}, errors.UsageError, "`by` chooses what describes terms"),
        ):
            with pytest.raises(error, match=told):
                evaluate_sets(films, sets, **options)


def test_the_command(run, failed, tmp_path):
    data, sets = planted()
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
    (tmp_path / "sets.json").write_text(json.dumps(sets | {"small": ["x-00"]}))
    code, out, err = run("evaluate", "a.db", "sets.json", "--draws", "2", "--json")
    rows = json.loads(out)
    assert code == 0
    columns = "method map low high p10 ndcg10 r_precision options"
    assert set(columns.split()) == rows[0].keys()
    assert "left out, fewer than 4 members that the index knows: small" in err
    assert "3 sets, 6 questions of 3 seeds" in err
    lines = "set,item\n" + "".join(f"{name},{item}\n" for name, own in sets.items() for item in own)
    (tmp_path / "sets.csv").write_text(lines)
    assert json.loads(run("evaluate", "a.db", "sets.csv", "--draws", "2", "--json")[1]) == rows
    failed(run("evaluate", "a.db"), 2, "no sets")
    failed(run("evaluate", "a.db", "none.json"), 1, "none.json")
    (tmp_path / "bad.json").write_text("[1]")
    failed(run("evaluate", "a.db", "bad.json"), 1, "bad.json", "JSON object")
    for name, own in sets.items():
        assert run("set", "save", "a.db", name, *own)[0] == 0
    assert json.loads(run("evaluate", "a.db", "--draws", "2", "--json")[1]) == rows
    assert "method" in run("evaluate", "a.db", "--table")[1].splitlines()[0]
    best = rows[0]
    assert run("expand", "a.db", *sets["x"][:2], *(f"--{k}={v}" for k, v in best["options"].items()))[0] == 0
