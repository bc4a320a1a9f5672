"""Words without contexts beside words that have them: these count by contexts, those by documents."""

import random
from math import log, sqrt
from statistics import median

import pytest
from oracle import RARITY, soft_values, transpose
from samples import KERNELS, with_kernels

import setsearch
from setsearch import errors
from setsearch.core import question as core_question


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = random.Random(4)
    kinds = {"animal": ["lion", "tiger", "wolf", "bear"], "fruit": ["apple", "pear", "plum", "cherry"]}
    said = {"animal": "a {} hunts at night in the {} hills", "fruit": "the sweet {} grows ripe in a {} garden"}
    texts = []
    for n in range(300):
        kind = rng.choice([*kinds])
        texts.append((f"d{n}", said[kind].format(rng.choice(kinds[kind]), rng.choice(["old", "small", "green"]))))
    texts += [("rare1", "the okapi hunts with the lion at night"), ("rare2", "a durian and a plum")]
    with setsearch.open(tmp_path_factory.mktemp("rare") / "a.db", create=True, contexts="on") as made:
        made.add(texts)
        yield made


def as_new(data, counts):
    """The values of an item that is not in the data, by the statistics of the data (slope 0.8)."""
    turned, total = transpose(data), sum(sum(own.values()) for own in data.values())

    def weights(own, length):
        return {
            f: (1 + log(c)) * log(len(data) / len(turned[f])) ** 0.25
            for f, c in own.items()
            if f in turned and len(turned[f]) < len(data) and c / length > 2 * sum(turned[f].values()) / total
        }

    def norm(own):
        return sqrt(sum(w * w for w in weights(own, sum(own.values())).values()))

    middle = median([norm(own) for own in data.values() if norm(own)])
    scale = 0.2 * middle + 0.8 * norm(counts)
    return {f: min(1.0, w / scale) for f, w in weights(counts, sum(counts.values())).items()}


def documents_part(index, known, rare):
    """What documents add: 0.6 times lift, with the rare word as an item that they do not have."""
    reading = index.items("terms")
    with reading.fields(by="both") as fields:
        words = [name for name, _ in fields.describe(fields.item_ids().tolist()).values()]
    data = {word: reading.features_of(word) for word in words}
    values = soft_values(data, 0.8, "soft-twice-mean")
    df = {}
    for own in values.values():
        for feature in own:
            df[feature] = df.get(feature, 0) + 1
    seeds = {known: values[known], rare: as_new(data, reading.features_of(rare))}
    scores = dict.fromkeys(words, 0.0)
    for feature in set(seeds[known]) | set(seeds[rare]):
        s = sum(own.get(feature, 0.0) for own in seeds.values())
        c, p = sum(feature in own for own in seeds.values()), df[feature] / len(words)
        weight = s / 2 * (c / 2) ** 0.5 * log((2 * p + c) / 4 / p) * log(1 / p) ** (RARITY * log(2))
        for word in words:
            scores[word] += 0.6 * weight * values[word].get(feature, 0.0)
    return scores


def test_a_rare_seed_counts_by_its_documents(index):
    reading = index.items("terms")
    mixed = reading.expand(["lion", "okapi"], 50, neighbors=0, vectors=0)
    alone = reading.expand(["lion"], 50, neighbors=0, vectors=0)
    by_documents = reading.expand(["lion", "okapi"], 50, by="documents")
    assert mixed.contexts_revision == 1
    assert by_documents.contexts_revision is None
    assert {hit.item for hit in mixed[:3]} == {"tiger", "wolf", "bear"}
    # Contexts know one seed only, so their part is that of the question with this seed alone.
    contexts = {hit.item: hit.score for hit in reading.expand(["lion"], 50, by="contexts", neighbors=0, vectors=0)}
    documents = documents_part(index, "lion", "okapi")
    assert {hit.item for hit in mixed} == {hit.item for hit in alone}
    for hit in mixed:
        assert hit.score == pytest.approx(contexts.get(hit.item, 0.0) + documents[hit.item], abs=2e-6)
    assert reading.words_without_contexts(["lion", "okapi"]) == ["okapi"]


def rare_collection(folder, seed):
    """An index in which many words have no contexts, and a function that asks random questions of it."""
    rng = random.Random(seed)
    words = [f"w{n}" for n in range(300)]
    texts = [
        " ".join(rng.choices(words, [(n + 1) ** -1.3 for n in range(300)], k=rng.choice([5, 12, 40])))
        for _ in range(150)
    ]
    index = setsearch.open(folder / "a.db", create=True, contexts="on")
    index.add((f"d{n}", text) for n, text in enumerate(texts))
    terms = index.items("terms")
    with terms.fields() as fields:
        known = sorted(fields.items.names())
    rare = sorted({*" ".join(texts).split()} - {*known})
    for word in known[:40]:
        terms.expand([word])  # lists have values now

    def ask():
        """One question: what is asked, and of which reading."""
        seeds = rng.sample(known[:-1], rng.choice([1, 2, 4])) + rng.sample(rare, rng.choice([1, 1, 3]))
        seeds = {own: rng.choice([0.5, 1, 3]) for own in seeds} if rng.random() < 0.3 else seeds
        options = rng.choice([{}, {}, {"explain": True}, {"cut": "mark"}, {"feedback": 0.5}, {"neighbors": 0}])
        options |= rng.choice([{}, {}, {"exclude": [known[-1]]}, {"budget": 0}, {"strength": 7}])
        options = {**options, "keep_seeds": True} if rng.random() < 0.2 else options
        if rng.random() < 0.2:
            options = {"like": [" ".join(rng.sample(words, 9))]}
            return "documents", rng.choice([[], ["d1"], {"d1": 2, "d4": 0.5}]), {**options, "fold": True}
        return "terms", seeds, options

    return index, rare, ask


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
@pytest.mark.parametrize("seed", [0, *(pytest.param(own, marks=pytest.mark.long) for own in range(1, 60))])
def test_the_core_knows_examples_that_are_no_items(tmp_path, seed, monkeypatch):
    """Words without contexts and texts, beside items: the answers of numpy, to the bit."""
    answers, at_once = [], core_question.ask_all
    monkeypatch.setattr(core_question, "ask_all", lambda own: answers.extend(found := at_once(own)) or found)
    index, rare, ask = rare_collection(tmp_path, seed)
    with index:
        assert len(rare) > 5
        for _ in range(20):
            items, seeds, options = ask()
            first, *others = with_kernels(lambda: index.items(items).expand(seeds, 12, **options))  # noqa: B023
            for hits in others:
                assert hits == first, (items, seeds, options)
                assert (hits.untold, hits.common) == (first.untold, first.common)
    assert sum(own is not None for own in answers) > len(answers) / 2


def test_the_order_of_seeds_does_not_matter(index):
    reading = index.items("terms")
    assert reading.expand(["lion", "okapi", "durian"], 30) == reading.expand(["durian", "okapi", "lion"], 30)
    weighted = reading.expand({"lion": 1, "okapi": 0}, 30)
    assert {h.item: h.score for h in weighted} == pytest.approx({h.item: h.score for h in reading.expand(["lion"], 30)})


def test_belongs_abstains_where_no_seed_has_contexts(index):
    reading = index.items("terms")
    assert {hit.belongs for hit in reading.expand(["okapi"], 5, cut="mark")} == {None}
    assert {hit.belongs for hit in reading.expand(["okapi"], 5, cut="mark", by="documents")} <= {True, False}
    assert {hit.belongs for hit in reading.expand(["lion", "tiger", "okapi"], 5, cut="mark")} <= {True, False}


def test_names_of_one_word_are_one_seed(index):
    reading = index.items("terms")
    assert reading.expand(["lion", "okapi", "Okapi"], 9) == reading.expand(["lion", "okapi"], 9)
    with pytest.raises(errors.InvalidParameter, match="has another weight"):
        reading.expand({"lion": 1, "tiger": 1, "Lion": 0})
    with pytest.raises(errors.InvalidParameter, match="both a seed and in"):
        reading.expand(["lion", "okapi"], exclude=["Okapi"])
    assert reading.expand(["lion", "tiger"], 9, exclude=["okapi"]) == reading.expand(["lion", "tiger"], 9)
    only_rare = reading.expand({"lion": 0, "okapi": 1}, 9)
    assert "lion" not in {hit.item for hit in only_rare}
    assert reading.fits({"lion": 1, "tiger": 0, "okapi": 0})


def test_candidates_without_contexts_are_ranked_by_documents(index):
    reading = index.items("terms")
    ranked = reading.rank(["okapi", "tiger", "apple"], ["lion"])
    assert {hit.item for hit in ranked} == {"okapi", "tiger", "apple"}
    assert ranked == reading.rank(["okapi", "tiger", "apple"], ["lion"], by="documents")
    assert reading.rank(["tiger", "apple"], ["lion"]) == reading.rank(["tiger", "apple"], ["lion"], by="both")


def test_unknown_names_are_still_told(index):
    reading = index.items("terms")
    with pytest.raises(errors.UnknownItem, match="no 'okapii'"):
        reading.expand(["lion", "okapii"])
    with pytest.raises(errors.UnknownItem, match="no 'okapii'"):
        reading.expand(["lion", "okapi"], exclude=["okapii"])
    left_out = reading.expand(["lion", "okapi"], 50, exclude=["tiger", "durian"])
    assert "tiger" not in {hit.item for hit in left_out}
    assert reading.explain(["lion", "okapi"], "tiger").score == pytest.approx(
        next(hit.score for hit in reading.expand(["lion", "okapi"], 50) if hit.item == "tiger")
    )
    assert reading.explain(["lion"], "okapi").item == "okapi", "an item without contexts is explained by documents"


def test_both_and_the_odd_one_know_rare_words(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add((f"d{n}", "the red apple, the blue pear and the green plum") for n in range(9))
        index.add([("x", "the quince is red")])
        terms = index.items("terms")
        assert terms.expand(["apple", "pear", "quince"], 5, by="both") == terms.expand(["apple", "pear", "quince"], 5)
        assert {fit.item for fit in terms.fits(["apple", "pear", "quince"])} == {"apple", "pear", "quince"}


def test_documents_of_rare_words_are_those_of_the_contexts(tmp_path):
    """While contexts are those of the present revision, the table names the documents; then what they stored does."""
    seeds = ["lion", "okapi"]
    texts = [(f"d{n}", f"the {word} hunts at night") for n, word in enumerate(["lion", "tiger", "wolf"] * 9)]

    def ask(terms):
        return terms.expand(seeds, 50), {part.feature for part in terms.explain(seeds, "wolf").features}

    with setsearch.open(tmp_path / "a.db", create=True, contexts="words") as index:
        index.add([("first", "the lion and the wolf"), *texts, ("rare", "the okapi hunts with the lion and the wolf")])
        before, features = ask(index.items("terms"))
        assert "first" in features
        index.delete(["first"])
        index.add([("other", "an okapi takes the id of the first one")])
        assert ask(index.items("terms"))[1] == features
    with setsearch.open(tmp_path / "a.db") as index:
        after, features_after = ask(index.items("terms"))
        assert (after.contexts_revision, features_after) == (1, features)
        assert [(hit.item, hit.score) for hit in after] == [(hit.item, hit.score) for hit in before]


def test_one_word_with_contexts_beside_a_rare_one_does_not_tell_what_belongs(tmp_path):
    texts = [(f"d{n}", f"the {word} hunts at night") for n, word in enumerate(["lion", "tiger", "wolf", "fox"] * 9)]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="words") as index:
        index.add([*texts, ("rare", "the okapi hunts with the lion and the wolf")])
        terms = index.items("terms")
        assert {hit.belongs for hit in terms.expand(["lion", "okapi"], cut="mark")} == {None}
        assert None not in {hit.belongs for hit in terms.expand(["lion", "tiger", "okapi"], cut="mark")}
        assert terms.expand(["lion", "okapi"], cut="keep") == [
            hit for hit in terms.expand(["lion", "okapi"], cut="keep") if hit.belongs
        ]
