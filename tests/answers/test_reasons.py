"""Reasons: parts of a score that tell the same are one, their weights sum to the score, and no word is empty."""

import gc
import pickle
from collections import defaultdict

import hypothesis.strategies as st
import pytest
from hypothesis import given

import setsearch
from setsearch.answers.reasons import MOST, Wording, sentence
from setsearch.answers.results import Contribution
from setsearch.search.weights import OWN
from setsearch.text.analyzer import Analyzer
from setsearch.text.function_words import function_words, likely_language

SENTENCES = {
    "_ flowers": "The word stands before “flowers”.",
    "bright _": "The word stands after “bright”.",
    "the _ of": "The word stands between “the” and “of”.",
    "_ · purple": "The word stands before “… purple”.",
    "d12": "",
}
WORDS = Wording("documents", are_words=True, has_text=False)
TEXTS = Wording("terms", are_words=False, has_text=True)
FILMS = Wording("user", are_words=False, has_text=False, source="latent")
NAMES = (
    "_ flowers|bright _|_ flowers .|flower _|_ of|_ and|_ , the|listed with pink|used like red|its own text has hue|d1"
)
NAMES += "|d2|used like blue|used like sky|used like sea|used like ice|used like ink|near to few words|like in meaning"
parts = st.dictionaries(
    st.sampled_from([*NAMES.split("|"), *(f"word{n} _" for n in range(20))]),
    st.integers(-800, 800).filter(bool).map(lambda n: n / 2**22),
).map(lambda own: [Contribution(name, weight) for name, weight in own.items()])


def told(how, **weights):
    """Labels with their weights, of features whose names have _ for a blank."""
    found = how.reasons([Contribution(name.replace("_", " "), weight) for name, weight in weights.items()])
    return {reason.label: reason.weight for reason in found}


@pytest.mark.parametrize("label", SENTENCES)
def test_contexts_have_sentences(label):
    assert sentence(label) == SENTENCES[label]


def test_contexts_of_one_word_are_one_reason():
    given = [("_ flowers", 0.5), ("bright _", 0.4), ("_ flowers .", 0.25), ("flower _", 0.125), ("_ of the", 0.0625)]
    found = WORDS.reasons([Contribution(*part) for part in given])
    assert [(reason.label, reason.weight) for reason in found] == [
        ("_ flowers", 0.875),
        ("bright _", 0.4),
        ("small words around it", 0.0625),
    ]
    assert found[0].features == ("_ flowers", "_ flowers .", "flower _")


def test_words_of_lists_and_of_its_own_text_are_one_reason_each():
    lists = {f"listed_with_{name}": 1 / n for n, name in enumerate(["red", "blue", "sky", "sea", "ice"], 1)}
    own = {"its_own_text_has_hue": 0.25, "its_own_text_has_color": 0.125}
    assert [*told(WORDS, **lists, **own)] == ["listed with red, blue, sky and 2 more", "its own text has hue, color"]


def test_function_words_of_lists_and_of_its_own_text_are_small_ones():
    found = told(
        WORDS,
        its_own_text_has_or=0.5,
        its_own_text_has_sound=0.25,
        its_own_text_has_which=0.125,
        its_own_text_has_the=1.0,
    )
    assert found == {"small words around it": 1.625, "its own text has sound": 0.25}
    assert told(WORDS, listed_with_other=0.5, listed_with_red=0.25) == {
        "small words around it": 0.5,
        "listed with red": 0.25,
    }


def test_the_nearest_words_are_named():
    near = {f"used_like_{name}": 1 / n for n, name in enumerate(["red", "blue", "sky", "sea", "ice", "ink"], 1)}
    assert [*told(WORDS, **near)] == [f"used like {name}" for name in ("red", "blue", "ice, ink", "sky", "sea")]


@pytest.mark.parametrize("how", [WORDS, TEXTS, FILMS])
@given(parts=parts)
def test_reasons_sum_to_the_score(how, parts):
    """Exactly, whatever is grouped, scaled and left out; and much of a score is never only "more"."""
    found, total = how.reasons(parts), sum(part.weight for part in parts)
    assert sum(reason.weight for reason in found) == total
    assert len(found) <= MOST + 1
    told = sorted(name for reason in found for name in reason.features)
    assert told in (sorted(part.feature for part in parts), sorted({part.feature for part in parts} - {OWN}))
    (left,) = [reason for reason in found if reason.label.endswith(" more") and "used" not in reason.label] or [None]
    assert left is None or abs(left.weight) <= 0.3 * abs(total)


def test_forms_are_one_reason_and_function_words_none():
    found = told(TEXTS, outcome=1.0, outcomes=0.5, the=0.25, against_placebo=0.75, placebo=0.125, of_the=0.25, a=0.125)
    assert found == {"outcome": 1.5, "placebo": 0.875, "3 more": 0.625}


def test_what_is_left_is_counted_by_kind_if_it_is_much():
    many = {f"word{n}": 1.0 for n in range(30)}
    assert told(TEXTS, **many, the=0.5)["many small parts (20 words, 1 function word)"] == 20.5
    assert "5 more" in told(TEXTS, **{f"word{n}": 1.0 if n < 10 else 0.5 for n in range(15)})


def test_people_are_counted_and_latent_vectors_say_what_they_are():
    assert told(FILMS, u1=1.0, u2=0.5, like_in_meaning=0.25) == {
        "shared by 2 users": 1.5,
        "liked by the same people": 0.25,
    }
    meant = {
        Wording("paper", False, False, source="latent"): "much the same paper",
        Wording("terms", False, True, source="latent"): "about the same overall",
        Wording("documents", True, False, source="latent"): "used like them overall",
        Wording("terms", False, True, source="encoder"): "like in meaning",
        Wording("terms", False, True, source="own"): "near by its vector",
    }
    for how, label in meant.items():
        assert told(how, like_in_meaning=0.25) == {label: 0.25}


def test_people_are_named_by_the_examples_that_they_have(build):
    """Who has several examples is told of all of these; who has none of them, in what rejected items teach."""
    liked = {"Alien": "abcdef", "Heat": "abgh", "Aliens": "abcdex", "Ronin": "aghy", "Bambi": "wxyz", "Dumbo": "wxz"}
    index = build({film: dict.fromkeys(users, 1) for film, users in liked.items()})
    films = index.items("film")
    told = {hit.item: hit for hit in films.expand(["Alien", "Heat"], 9, explain=True)}
    expected = {
        "Aliens": {"shared with Alien and Heat by 2 users", "shared with Alien by 3 users"},
        "Ronin": {"shared with Alien and Heat by a", "shared with Heat by 2 users"},
    }
    for film, labels in expected.items():
        assert {reason.label for reason in told[film].reasons} == labels
        assert told[film].reasons == films.explain(["Alien", "Heat"], film).reasons
    (reason,) = films.expand(["Dumbo"], 1, explain=True)[0].reasons
    assert reason.label == "shared with Dumbo by 3 users" and sorted(reason.features) == ["w", "x", "z"]
    many = films.expand(["Alien", "Heat", "Ronin"], 9, explain=True)
    assert {reason.label for hit in many for reason in hit.reasons} >= {"shared with 3 of the examples by a"}
    learned = films.expand(["Alien"], 9, exclude=["Bambi"], explain=True)
    labels = {reason.label for hit in learned for reason in hit.reasons}
    assert any(label.startswith("shared by ") for label in labels)
    for hit in learned:
        assert sum(reason.weight for reason in hit.reasons) == pytest.approx(hit.score, abs=1e-9)


def test_the_language_of_function_words():
    assert likely_language(["der", "die", "und", "hund"]) == "german"
    assert likely_language(["the", "son", "sur", "of", "and", "a"]) == "english"
    assert likely_language([]) == "english"
    assert {"the", "of", "a"} <= function_words("english")
    assert not {"system", "index", "value"} & function_words("english")
    assert "und" in function_words("german")
    assert function_words("klingon") == frozenset()


def test_pairs_of_stems_are_shown_as_they_were_written(tmp_path):
    """The hits of a review, which learn from what was rejected, too."""
    texts = [
        ("a", "The clinical outcomes of the trial were tested against placebo."),
        ("b", "Clinical outcomes against placebo: a trial of the drug."),
        ("c", "Clinical outcomes of the drug, and placebo."),
        ("d", "The clinical outcomes of a city hospital."),
        *((f"x{n}", f"A river flows to the sea past town {n}.") for n in range(20)),
    ]
    with setsearch.open(tmp_path / "a.db", create=True, language="english", analyzer="unicode+pairs") as index:
        index.add(texts)
        documents = index.items("documents")
        for options in ({}, {"exclude": ["d"]}):
            for hit in documents.expand(["a"], 2, explain=True, **options):
                labels = [reason.label for reason in hit.reasons]
                words = {word for label in labels for word in label.split(" ")}
                assert not words & {"clinic", "outcom", "the", "a", "against", "of"}
                assert sum(reason.weight for reason in hit.reasons) == pytest.approx(hit.score, abs=1e-9)
                assert "clinic outcom" in {part.feature for part in hit.features}
                assert {"clinical outcomes", "outcomes", "clinical"} & {*labels}


def test_what_hits_share_is_the_mean_of_what_several_have(tmp_path):
    texts = [("s", "a lion with code 4711, a cat of the savanna"), ("t", "a tiger, a cat of the jungle")]
    texts += [(f"c{n}", f"a cat of the savanna or the jungle number {n}") for n in range(6)]
    texts += [("one", "it has code 4711")] + [(f"x{n}", f"a river by town {n}") for n in range(30)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts)
        hits = index.items("documents").expand(["s", "t"], 7, explain=True)
        weights = defaultdict(list)
        for hit in hits:
            for part in hit.features:
                weights[part.feature].append(part.weight)
        expected = {name: sum(own) / 7 for name, own in weights.items() if len(own) >= 2}
        found = {reason.label: reason.weight for reason in hits.common}
        assert found == pytest.approx({name: expected[name] for name in found})
        assert {"cat", "savanna", "jungle"} <= {*found}
        assert not {"4711", "code", "of", "the"} & {*found}
        assert found == dict(sorted(found.items(), key=lambda own: -own[1]))
        assert not index.items("documents").expand(["s", "t"], 1, explain=True).common  # one hit shares nothing
        assert pickle.loads(pickle.dumps(hits)).common == hits[:3].common == hits.common


def test_what_hits_share_is_found_when_somebody_reads_it(tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([(f"d{n}", f"a lion number {n}") for n in range(4)])
        asked = []
        monkeypatch.setattr(Wording, "common", lambda self, parts: asked.append(len(parts)) or ())
        hits = index.items("documents").expand(["d0"], explain=True)
        assert not asked
    assert (hits.common, hits.common, asked) == ((), (), [3])  # also when nothing is open any more


def test_garbage_collection_passes_over_the_places_of_words():
    places = Analyzer().places
    places["lion's,"]
    for _ in range(3):  # for tuples in tuples
        gc.collect()
    assert len(places) == 1 and not any(map(gc.is_tracked, places.values()))
