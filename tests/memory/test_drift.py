"""After writes, answers by the values of an older file are those of a fresh index with the same content, to the bit."""

import random
import shutil
import sqlite3
from collections import Counter
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from laws import examples

import setsearch
from setsearch.arrays import median
from setsearch.core import binding
from setsearch.memory import drift, readings
from setsearch.memory.field import Field

pytestmark = pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")

N = 400  # documents
MODELS = ({}, {"binarize": "presence"}, {"popularity": 0.5}, {"feedback": 0}, {"cut": "mark"}, {"cut": "keep"})
LIKES = ("films", "users")  # what films have exists whatever its share


def text(rng):
    """Words by Zipf's law."""
    words = [f"w{int(1 / (1.001 - rng.random()) ** 1.2)}" for _ in range(rng.choice([3, 12, 12, 60]))]
    return " ".join(words)


def rows(seed=1):
    rng = random.Random(seed)
    return {f"d{n}": text(rng) for n in range(N)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Documents, and their file of arrays."""
    path = tmp_path_factory.mktemp("drift") / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add([*rows().items()])
        index.items("documents").expand(["d1"])
    return path


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """The same words as users who like films, and their file of arrays."""
    path = tmp_path_factory.mktemp("rated") / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add([(name, likes(own)) for name, own in rows().items()], LIKES)
        index.items("films").expand(["d1"])
    return path


def likes(text):
    return dict(Counter(text.split()))


@pytest.fixture
def wide(monkeypatch):
    """So small a collection moves much by one write."""
    monkeypatch.setattr(drift, "MOVED", 0.1)
    monkeypatch.setattr(drift, "CLOSE", 0.25)
    monkeypatch.setattr(drift, "SHARE_APART", 0.6)


def copied(whole, folder):
    for file in whole.parent.glob("a.db*"):
        shutil.copy(file, folder)
    return setsearch.open(folder / "a.db")


def in_memory():
    return setsearch.open(sqlite3.connect(":memory:"), create=True, contexts="off")


def answers(index, sets, model, k, items="documents"):
    found = []
    for seeds in sets:
        try:
            hits = index.items(items).expand(seeds, k, **model)
            found.append([(hit.item, hit.score, hit.belongs) for hit in hits])
        except setsearch.errors.SetsearchError as error:
            found.append(str(error))
    return found


def write_all(index, content, writes):
    """Some writes, and what the documents are then."""
    for kind, number in writes:
        own = random.Random(number)
        name = own.choice(sorted(content)) if kind in ("update", "delete") else f"new {number}"
        if kind == "delete":
            index.delete([name])
            del content[name]
            continue
        content[name] = text(own)
        index.update([(name, content[name])])


writes = st.lists(
    st.tuples(st.sampled_from(["add", "update", "delete"]), st.integers(0, 1 << 16)), min_size=1, max_size=5
)


@pytest.mark.usefixtures("wide")
@examples(40)
@given(writes, st.sampled_from(MODELS), st.integers(0, 1 << 16))
def test_answers_are_those_of_a_fresh_index(whole, tmp_path_factory, writes, model, seed):
    content, rng = rows(), random.Random(seed)
    with copied(whole, tmp_path_factory.mktemp("drift")) as index:
        write_all(index, content, writes)
        sets = [rng.sample(sorted(content), rng.choice([1, 1, 2, 3, 5])) for _ in range(4)]
        with in_memory() as fresh:
            fresh.add([*content.items()])
            k = rng.choice([1, 3, 10])
            found = answers(index, sets, model, k)
            assert found == answers(fresh, sets, model, k)
        with pytest.MonkeyPatch.context() as plain:
            plain.setattr(Field, "drift", lambda self, rule: None)
            assert answers(index, sets, model, k) == found


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("seeds", [1, 3])
def test_most_questions_after_a_write_are_answered_without_a_pass_over_all_entries(whole, tmp_path, monkeypatch, seeds):
    """The law above says nothing where numpy answers, as it does where few items share something with the seeds."""
    rng, asked = random.Random(3), 0
    with copied(whole, tmp_path) as index:
        index.add([("new", text(rng))])
        monkeypatch.setattr(Field, "statistics", None)  # nobody may ask for these
        for _ in range(20):
            try:
                index.items("documents").expand(rng.sample(sorted(rows()), seeds), 3, cut="mark")
                asked += 1
            except (TypeError, setsearch.errors.CorruptIndex):
                pass
    assert asked >= 15


@pytest.mark.usefixtures("wide")
def test_a_document_that_was_written_is_found_and_can_be_a_seed(whole, tmp_path):
    with copied(whole, tmp_path) as index:
        index.add([("one", "w1 w2 w77 w78 w79 w80"), ("two", "w3 w77 w78 w79 w80")])
        documents = index.items("documents")
        assert documents.expand(["one"], 1)[0].item == "two"
        assert documents.explain(["one"], "two").score == documents.expand(["one"], 1)[0].score


def found_and_before(index):
    """What is known of the last version of documents: its field, rule and drift, and the file."""
    fields = [own for held in index._readings._memory.versions.values() for own in held[-1]._fields.values()]
    (field,) = [own for own in fields if own._drifts]
    ((rule, (found,)),) = field._drifts.items()
    return field, rule, found, field._before(field.content.since.content, rule)


def drift_after(index, items="documents"):
    """The same, after a question."""
    index.items(items).expand(["d1"], 3)
    return found_and_before(index)


def check_others(field, rule, found, before):
    """What is not apart has the same entries, and values that moved by as little as is said; whether some are apart."""
    lists, drift_of_core, statistics = field.content.by_item, found.in_core.drift, field.statistics(rule)
    assert drift_of_core.rule.norms(np.arange(len(lists))).tolist() == statistics.norms.tolist()
    assert np.array_equal(drift_of_core.df, field.document_frequencies(rule))
    others, everything = np.setdiff1d(np.arange(N), found.apart), np.arange(len(lists))
    entries, values = statistics.values_of(lists.take(everything), by_item=True)
    of_core = drift_of_core.rule.values(everything)
    assert of_core.ids.tolist() == entries.ids.tolist() and of_core.values.tolist() == values.tolist()
    entries, values = statistics.values_of(lists.take(others), by_item=True)
    old = before.by_item.get(others)
    assert np.cumsum(old.lengths).tolist() == np.searchsorted(entries.lists, others, "right").tolist()
    assert old.concatenated_ids().tolist() == entries.ids.tolist()
    moved = np.abs(values - old.concatenated_values())
    assert (moved <= drift_of_core.share * old.concatenated_values() + drift_of_core.step).all()
    return 0 < len(others) < N


@pytest.mark.usefixtures("wide")
def test_items_with_features_that_moved_by_much_are_apart(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(drift, "MOVED", 0.02)
    words = Counter(word for own in rows().values() for word in set(own.split()))
    rare = [word for word, count in words.items() if count == 1][:3]
    with copied(whole, tmp_path) as index:
        index.items("documents").expand(["d1"])
        index.add([("new", " ".join(["w1"] * 5 + ["w2", *rare]))])
        assert check_others(*drift_after(index))


@pytest.mark.usefixtures("wide")
def test_items_of_which_an_entry_ceased_to_exist_are_apart(whole, tmp_path):
    """More of a word in others make the share of an item too small, although the word moved by little."""
    with copied(whole, tmp_path) as index:
        index.items("documents").expand(["d1"])
        index.add([("new", "w1")])
        field, _, _, before = drift_after(index)
        (items, features, shares), sums = before.close, before.counts.by_feature.totals
        most = np.array([2 * (sum + 5) / (before.all_counts + 6) for sum in sums[features]])
        place = np.flatnonzero((shares > 2 * sums[features] / before.all_counts) & (shares < most))[0]
        with index.items("documents").fields() as fields:
            ((word, _),) = fields.first.describe_features([int(features[place])]).values()
        index.add([("more", " ".join([word] * 5))])
        field, rule, found, before = drift_after(index)
        assert items[place] in found.apart and check_others(field, rule, found, before)


@pytest.mark.usefixtures("wide")
def test_items_of_which_an_entry_began_to_exist_are_apart(whole, tmp_path):
    """All thresholds fall a little."""
    with copied(whole, tmp_path) as index:
        index.items("documents").expand(["d1"])
        index.add([("new", " ".join(["new"] * 400))])
        field, rule, found, before = drift_after(index)
        (items, features, shares), sums = before.close, before.counts.by_feature.totals
        now = 2 * sums / field.lists(False).totals.sum()
        began = items[(shares <= 2 * sums[features] / before.all_counts) & (shares > now[features])]
        assert len(began) and np.isin(began, found.apart).all()
        assert check_others(field, rule, found, before)


@pytest.mark.usefixtures("wide")
def test_all_entries_near_their_thresholds_are_close(whole, tmp_path):
    """Also where the threshold is below all shares, but near one."""
    with copied(whole, tmp_path) as index:
        index.add([("new", "w1")])
        before = drift_after(index)[3]
        lists, totals = before.counts.by_feature, before.counts.by_item.totals
        entries = lists.take(np.arange(len(lists)))
        shares, threshold = entries.counts / totals[entries.ids], 2 * lists.totals / before.all_counts
        is_close = np.abs(shares - threshold[entries.lists]) <= drift.CLOSE * threshold[entries.lists]
        assert threshold[entries.lists[is_close]].min() < before.least_share
        assert before.close[0].tolist() == entries.ids[is_close].tolist()


@pytest.mark.usefixtures("wide")
@examples(40)
@given(writes)
def test_what_is_not_apart_moved_by_no_more_than_is_said(whole, tmp_path_factory, writes):
    """Answers seldom tell: few scores are as near each other as the bounds."""
    content = rows()
    with copied(whole, tmp_path_factory.mktemp("drift")) as index:
        index.items("documents").expand(["d1"])
        write_all(index, content, writes)
        index.items("documents").expand(sorted(content)[:1], 3)
        field, rule, found, before = found_and_before(index)
        if found is not None:
            check_others(field, rule, found, before)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("word", ["w5", "w7"])
def test_items_of_a_word_whose_threshold_moved_by_much_are_apart(whole, tmp_path, monkeypatch, word):
    monkeypatch.setattr(drift, "CLOSE", 0.05)
    with copied(whole, tmp_path) as index:
        index.items("documents").expand(["d1"])
        index.add([("new", " ".join([word] * 100))])
        assert check_others(*drift_after(index))


@pytest.mark.usefixtures("wide")
def test_items_of_a_rare_word_that_one_document_repeats_are_apart(whole, tmp_path):
    """Before, its threshold was below all shares, and told nothing."""
    words = Counter(word for own in rows().values() for word in own.split())
    word = next(word for own in rows().values() if len(own.split()) == 60 for word in own.split() if words[word] == 1)
    with copied(whole, tmp_path) as index:
        index.items("documents").expand(["d1"])
        index.add([("new", " ".join([word] * 200))])
        assert check_others(*drift_after(index))


@pytest.mark.usefixtures("wide")
def test_a_document_that_moves_all_thresholds_by_much_leaves_no_bounds(whole, tmp_path):
    """Also those of words that it does not have."""
    with copied(whole, tmp_path) as index:
        index.items("documents").expand(["d1"])
        index.add([("new", " ".join(["new"] * 2500))])
        assert drift_after(index)[2] is None


@pytest.mark.usefixtures("wide")
def test_too_many_shares_near_their_thresholds_leave_no_bounds(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(drift, "MOST_CLOSE", 10)
    with copied(whole, tmp_path) as index:
        index.add([("new", "w1")])
        assert drift_after(index)[2] is None


@pytest.mark.usefixtures("wide")
def test_values_that_could_become_zero_leave_no_bounds(whole, tmp_path):
    """An entry without a value is none: then document frequencies would not be those of now."""
    with copied(whole, tmp_path) as index:
        index.add([("new", "w1")])
        field, rule, found, before = drift_after(index)
        changed = field.content.since.changed

        def drift_with(largest):
            norms = np.append(before.norms[:-1], largest)
            own = drift.Before(before.counts, rule, norms, (before.by_feature, before.by_item))
            return drift.drift_since(own, field._counts, changed)

        assert drift_with(found.norm) is not None and drift_with(1e9) is None


@pytest.mark.usefixtures("wide")
def test_a_word_of_all_documents_may_be_in_the_new_one(tmp_path):
    """Its factor is 0; it says nothing about others."""
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([(name, f"all {own}") for name, own in rows().items()])
        index.items("documents").expand(["d1"])
    with setsearch.open(tmp_path / "a.db") as index:
        index.add([("new", "all w1")])
        _, _, found, _ = told = drift_after(index)
        check_others(*told)
        assert found.apart.tolist() == [N]


@pytest.mark.usefixtures("wide")
def test_without_a_frequent_word_that_did_not_change_there_are_no_bounds(whole, tmp_path, monkeypatch):
    """By how much n moves the others is not known."""
    monkeypatch.setattr(drift, "FREQUENT", 1)
    with copied(whole, tmp_path) as index:
        index.add([("new", "w1")])
        assert drift_after(index)[2] is None


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("added", [0, 1])
def test_the_last_documents_may_go(whole, tmp_path, added):
    """Their lists are empty; the file had some of them, or none."""
    with copied(whole, tmp_path) as index, in_memory() as fresh:
        content = rows()
        index.add([(f"new {n}", "w1 w2 w3") for n in range(added)])
        index.delete([f"new {n}" for n in range(added)] or [f"d{N - 1}", f"d{N - 2}"])
        fresh.add([*content.items()][: N if added else N - 2])
        assert check_others(*drift_after(index)) is (not added)
        sets = [[name] for name in [*content][::9]]
        assert answers(index, sets, {}, 10) == answers(fresh, sets, {}, 10)


def test_after_a_write_to_likes_their_file_is_in_use(rated, tmp_path, monkeypatch):
    """Memory puts what changed behind the lists of the file; its values are as many as before."""
    with copied(rated, tmp_path) as index:
        monkeypatch.setattr(readings, "read_content", None)  # nobody may read everything
        index.update([("d1", {"w1": 2, "w5": 1})], LIKES)
        assert index.items("films").expand(["d1"], 3)


@pytest.mark.usefixtures("wide")
@examples(40)
@given(st.lists(st.tuples(st.integers(0, N + 2), st.integers(0, 1 << 16)), min_size=1, max_size=5))
def test_answers_about_likes_are_those_of_a_fresh_index(rated, tmp_path_factory, changes):
    content = {name: likes(own) for name, own in rows().items()}
    changes = {f"d{item}": likes(text(random.Random(number))) for item, number in changes}
    with copied(rated, tmp_path_factory.mktemp("drift")) as index, in_memory() as fresh:
        index.items("films").expand(["d1"])
        index.update([*changes.items()], LIKES)
        fresh.add([*(content | changes).items()], LIKES)
        sets = [["d1"], [*changes][:3], ["d3", "d4", "d5"]]
        assert answers(index, sets, {}, 5, "films") == answers(fresh, sets, {}, 5, "films")
        field, rule, found, before = found_and_before(index)
        assert found is not None
        check_others(field, rule, found, before)


@pytest.mark.usefixtures("wide")
def test_values_move_with_the_median(tmp_path):
    """Half of the documents are short, half are long: one more long one moves the median, and hardly a factor."""
    rng = random.Random(1)
    texts = [" ".join(f"w{rng.randrange(200)}" for _ in range(size)) for size in [3, 40] * 200 + [40]]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([(f"d{n}", own) for n, own in enumerate(texts[:-1])])
        index.items("documents").expand(["d1"])
    with setsearch.open(tmp_path / "a.db") as index:
        index.add([("new", texts[-1])])
        field, rule, found, before = drift_after(index)
        check_others(field, rule, found, before)
        assert found.apart.tolist() == [N]
        norms = field.statistics(rule).norms
        assert median(norms[norms > 0]) > 1.1 * before.pivot


@pytest.mark.usefixtures("wide")
def test_a_value_may_move_by_more_than_its_factor(tmp_path):
    """A user becomes rarer while the others of a film become more frequent: its norm falls."""
    others = {f"other {n}": 1 for n in range(9)}
    films = {f"d{n}": {"one": 1, f"own {n}": 1} if n < 60 else {"one": 1, **others} for n in range(1, 120)}
    films |= {f"d{n}": {f"some {n % 7}": 1, f"more {n % 5}": 1} for n in range(120, 600)}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([*films.items()], LIKES)
        index.items("films").expand(["d1"])
    with setsearch.open(tmp_path / "a.db") as index:
        index.items("films").expand(["d1"])
        index.update([(f"d{n}", others) for n in range(2, 50)], LIKES)
        field, rule, found, before = drift_after(index, "films")
        assert check_others(field, rule, found, before)


@pytest.mark.usefixtures("wide")
def test_counts_without_logarithms_leave_no_bounds(rated, tmp_path):
    with copied(rated, tmp_path) as index, in_memory() as fresh:
        content = {name: likes(own) for name, own in rows().items()} | {"new": {"w1": 1 << 16}}
        index.items("films").expand(["d1"])
        index.add([("new", content["new"])], LIKES)
        fresh.add([*content.items()], LIKES)
        sets = [["d1"], ["new", "d2"]]
        assert answers(index, sets, {}, 5, "films") == answers(fresh, sets, {}, 5, "films")
        assert found_and_before(index)[2] is None


@pytest.mark.parametrize("seed", range(20))
def test_the_median_is_that_of_all_norms_of_now(seed):
    """It is found among those near the old one, however far others moved across the edge of what is near."""
    rng = np.random.default_rng(seed)
    share, size = float(rng.choice([0.001, 0.1])), int(rng.integers(1, 200))
    old = np.where(rng.random(size) < 0.1, 0.0, 1 + rng.random(size) * rng.choice([0.01, 1]))
    apart = np.flatnonzero(rng.random(size) < rng.choice([0, 0.3, 1]))
    norms = old * rng.uniform(1 - share, 1 + share, size)
    norms[apart] = rng.random(len(apart)) * rng.choice([0, 2])
    before = SimpleNamespace(norms=old, pivot=median(old[old > 0]) if old.any() else 1.0)
    moves = drift._Moves(np.zeros(0, np.int64), 1 - share, 1 + share)
    found = drift._median(before, SimpleNamespace(norms=lambda items: norms[items]), moves, apart)
    assert found == (median(norms[norms > 0]) if norms.any() else 1.0)


def test_without_much_alike_all_values_are_made_anew(whole, tmp_path):
    """As they are, the bounds allow no write to so small a collection; the answers are the same."""
    content = rows()
    with copied(whole, tmp_path) as index, in_memory() as fresh:
        content |= {f"n{n}": text(random.Random(n)) for n in range(60)}
        index.add([(name, content[name]) for name in content if name.startswith("n")])
        fresh.add([*content.items()])
        assert answers(index, [["d1", "n2"]], {}, 10) == answers(fresh, [["d1", "n2"]], {}, 10)


@pytest.mark.parametrize("near", [0.0, 0.1, 1.0])
def test_close_entries_are_those_of_the_definition(near):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (30, 50)) * (rng.random((30, 50)) < 0.3)
    totals, threshold = np.maximum(counts.sum(axis=0), 1), np.round(rng.random(30) * 0.2, 2)
    features, items = np.nonzero(counts)
    ends = np.cumsum((counts > 0).sum(axis=1), dtype=np.int64)
    source = items.astype(np.int32), counts[features, items].astype(np.uint16), np.append(0, ends)[:-1], ends
    some = np.arange(0, 30, 2)
    shares = counts / totals
    is_close = (counts > 0) & (np.abs(shares - threshold[:, None]) <= near * threshold[:, None])
    is_close[1::2] = False
    found = binding.close(some, source, totals, threshold, near, 1000)
    assert found is not None
    expected = np.nonzero(is_close)
    assert found[1].tolist() == expected[0].tolist() and found[0].tolist() == expected[1].tolist()
    assert found[2].tolist() == shares[expected].tolist()
    assert len(found[0]) == 0 or binding.close(some, source, totals, threshold, near, len(found[0]) - 1) is None
