"""Words by their contexts: every score equals one computed from the texts by the definitions, whatever was written."""

import math
import random
import re
import sqlite3
import weakref
import zlib
from collections import Counter
from itertools import permutations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from laws import examples
from oracle import RARITY, lift_scores
from samples import delete_arrays

import setsearch
from setsearch import arrays, errors
from setsearch.storage import generations
from setsearch.storage.generations import find_generation
from setsearch.storage.relation import load_relations
from setsearch.text import contexts
from setsearch.text import token_stream as stream
from setsearch.text.analyzer import Analyzer
from setsearch.text.words import ICU, OLD, UNICODE, words_of_kind

WORDS = "apple pear plum lion tiger wolf red green blue the of and a eats sees big small old or".split()
FIELDS = {"win2": 1.0, "skip": 0.7, "lists": 0.3, "titled": 0.7, "documents": 0.6}
CONTEXTS = ["win2", "skip", "lists", "titled"]


def random_texts(seed, n=40):
    rng = random.Random(seed)
    texts = {}
    for number in range(n):
        words = []
        for _ in range(rng.randint(0, 25)):
            words.append(WORDS[min(int(rng.expovariate(0.15)), len(WORDS) - 1)])
            words.append(rng.choice(["", "", "", ",", ".", "!", ", and", " or", ";", "..", ", the"]))
        texts[f"d{number:02}"] = " ".join(words).title()
    return texts


def tokens_of(texts):
    """Words, commas and breaks of each document, in the order of ids; consecutive breaks are one."""
    for name in sorted(texts):
        tokens = []
        for token in re.findall(r"\w+|[,.;:!?]", texts[name].lower()):
            token = "." if token in ".;:!?" else token  # noqa: PLW2901
            if token != "." or (tokens and tokens[-1] != "."):
                tokens.append(token)
        yield name, tokens[:-1] if tokens and tokens[-1] == "." else tokens


def random_titles(texts, seed):
    """(id, text, title) of texts; a third has the name of a word as title."""
    rng = random.Random(seed)
    return [(id, text, rng.choice([None, f"No. {id}", rng.choice(WORDS).title()])) for id, text in texts.items()]


def fields_of(texts, titles=None):
    """{field: {word: {context: count}}}, straight from the definitions; `titles` by the id of the document."""
    documents = dict(tokens_of(texts))
    counts = Counter(token for tokens in documents.values() for token in tokens)
    n_tokens = 2 + sum(len(tokens) + 2 for tokens in documents.values())
    least = max(2, min(20, math.isqrt(n_tokens) // 120))
    items = [w for w, c in counts.items() if c >= least and w.isalpha()]
    most = max(100, n_tokens / 300)
    found = {field: {item: Counter() for item in items} for field in FIELDS}
    for name, own in documents.items():
        padded = [".", ".", *own, ".", "."]
        for place in range(2, len(padded) - 2):
            word = padded[place]
            if word not in items:
                continue
            found["documents"][word][name] += 1
            if not is_sampled(name, place - 2, min(most / counts[word], 1)):
                continue
            for field, patterns in (
                ("win2", [(-2,), (-1,), (1,), (2,)]),
                ("skip", [(-1, 1), (-2, -1, 1), (-1, 1, 2), (-2, -1), (1, 2)]),
            ):
                for pattern in patterns:
                    around = tuple(padded[place + offset] for offset in pattern)
                    found[field][word][pattern, around] += 1
        for members in lists_of(own):
            for a, b in permutations(members, 2):
                if a != b and a in items and counts[b] > 1:
                    found["lists"][a][b] += 1
    for name, title in (titles or {}).items():
        if (title or "").lower() in items:
            kept = {t for t in documents[name] if counts[t] > 1} | {*stream.CONJUNCTIONS, *stream.ARTICLES}
            words = [t for t in documents[name] if t not in ".," and t in kept]
            found["titled"][title.lower()].update(words)
    for field in ("win2", "skip", "titled"):
        df = Counter(context for own in found[field].values() for context in own)
        found[field] = {w: {c: n for c, n in own.items() if df[c] > 1} for w, own in found[field].items()}
    return found


def is_sampled(name, place, share):
    """Whether a use of a word, this far behind the beginning of a document, is in the sample of this share."""
    number = (zlib.crc32(name.encode()) << 32 | place) * 0x9E3779B97F4A7C15 % 2**64
    return number >> 32 < int(share * 2**32)


def lists_of(tokens):
    """Maximal runs X (SEP [article] X)+ of three members at least, from left to right."""

    def plain(token):
        return token not in (",", ".", "and", "or", "nor", "a", "an", "the")

    place = 0
    while place < len(tokens):
        if not plain(tokens[place]):
            place += 1
            continue
        members, after = [tokens[place]], place + 1
        while len(members) < 40:
            here = after
            if here < len(tokens) and tokens[here] == ",":
                here += 1
                here += here < len(tokens) and tokens[here] in ("and", "or", "nor")
            elif here < len(tokens) and tokens[here] in ("and", "or", "nor"):
                here += 1
            else:
                break
            here += here < len(tokens) and tokens[here] in ("a", "an", "the")
            if not (here < len(tokens) and plain(tokens[here])):
                break
            members.append(tokens[here])
            after = here + 1
        if len(members) >= 3:
            yield members
            place = after
        else:
            place += 1


def expected_scores(texts, seeds, which=FIELDS, titles=None):
    fields = fields_of(texts, titles)
    total = Counter()
    for field in which:
        for item, score in lift_scores(fields[field], seeds, rarity=RARITY).items():
            total[item] += FIELDS[field] * score
    return {item: total[item] for item in fields["win2"] if item not in seeds}


@pytest.fixture
def index(tmp_path):
    with setsearch.open(tmp_path / "words.db", create=True, contexts="on") as made:
        yield made


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 8))])
def test_scores_equal_the_definition(index, seed):
    texts = random_texts(seed)
    rows = random_titles(texts, seed)
    index.add(rows)
    reading, titles = index.items("terms"), {id: title for id, _, title in rows}
    for seeds in (["apple"], ["lion", "tiger"], ["red", "green", "blue"]):
        for by, which in (("both", FIELDS), ("contexts", CONTEXTS)):
            hits = reading.expand(seeds, 99, by=by, neighbors=0, vectors=0)
            expected = expected_scores(texts, seeds, which, titles)
            assert {h.item: h.score for h in hits} == pytest.approx(expected, abs=2e-5)
        for hit in reading.expand(seeds, 99, by="both", explain=True):
            assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, abs=1e-9)
            assert reading.explain(seeds, hit.item, by="both").score == pytest.approx(hit.score, abs=1e-9)


def test_the_most_frequent_words_have_contexts_of_a_sample_of_their_uses(index, tmp_path):
    texts = random_texts(3, n=150)
    counts = Counter(token for _, tokens in tokens_of(texts) for token in tokens)
    often = [word for word, count in counts.items() if word.isalpha() and count > 100]
    assert {"apple", "pear", "plum"} <= {*often}
    index.add(texts.items())
    reading = index.items("terms")
    for seeds in (["apple"], ["apple", "tiger"], ["blue"]):
        for by, which in (("both", FIELDS), ("contexts", CONTEXTS)):
            hits = reading.expand(seeds, 99, by=by, neighbors=0, vectors=0)
            expected = expected_scores(texts, seeds, which)
            assert {h.item: h.score for h in hits} == pytest.approx(expected, abs=2e-5)
    places = [(name, n) for name, own in tokens_of(texts) for n, token in enumerate(own) if token == "apple"]
    used = sum(is_sampled(name, place, 100 / len(places)) for name, place in places)
    assert 0 < used < len(places)
    (note,) = reading.word_notes(["apple", "old"])
    assert note == f"apple: contexts from a sample of {used} of its {len(places)} uses"
    with setsearch.open(tmp_path / "other.db", create=True, contexts="on") as other:  # in another order, and updated
        other.add([*texts.items()][:70:-1])
        assert other.items("terms").expand(["apple"])
        other.add([*texts.items()][:71])
        hits = other.items("terms").expand(["apple"], 99, explain=True, fresh="now")
        assert hits == reading.expand(["apple"], 99, explain=True)
        assert other.items("terms").word_notes(["apple"]) == [note]


def test_notes_say_why_a_word_has_no_contexts(tmp_path):
    place, texts = tmp_path / "a.db", random_texts(3, n=150)
    with setsearch.open(place, create=True, contexts="on") as index:
        index.add([*texts.items(), ("z", "apple zebra")])
        terms = index.items("terms")
        assert terms.word_notes(["zebra"]) == ["zebra: too rare for contexts, so the answer is by documents"]
        assert terms.word_notes(["lion", "zebra"], by="documents") == []
        index.add([("y", "okapi quagga okapi")])
        rare, newer, _ = terms.word_notes(["quagga", "apple", "okapi"])
        assert rare == "quagga: too rare for contexts, so only its documents count"
        assert newer == "okapi: newer than the contexts, so only its documents count"
        index.refresh("now")
        assert not any("okapi" in note for note in terms.word_notes(["quagga", "apple", "okapi"]))


def test_contexts_that_an_earlier_version_chose_otherwise_are_derived_anew(tmp_path, monkeypatch):
    place, texts = tmp_path / "a.db", random_texts(3, n=150)

    def without_frequent(names, counts, n_tokens, analyzer):
        return contexts.choose_items(names, np.where(counts > 100, 0, counts), n_tokens, analyzer)

    monkeypatch.setattr("setsearch.memory.contexts.word_contexts.choose_items", without_frequent)
    with setsearch.open(place, create=True, contexts="on") as index:
        index.add([*texts.items(), ("z", "apple zebra")])
        index.refresh("now")
        old = index.items("terms").word_notes(["apple", "old", "zebra"])
        assert old == ["apple, zebra: too rare for contexts, so only their documents count"]
    monkeypatch.undo()
    delete_arrays(place)
    with setsearch.open(place) as index:
        rare, sampled = index.items("terms").word_notes(["apple", "old", "zebra"])
        assert rare.startswith("zebra: too rare")
        assert sampled.startswith("apple: contexts from a sample of")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))])
def test_after_any_writes_contexts_are_those_of_a_fresh_index(index, tmp_path, seed):
    rng, texts = random.Random(seed), random_texts(seed)
    index.add(texts.items())
    for step in range(6):
        if step % 3 == 0:
            gone = rng.sample(sorted(texts), 3)
            index.delete(gone)
            texts = {name: text for name, text in texts.items() if name not in gone}
        else:
            more = dict(rng.sample(sorted(random_texts(seed + 100 * step).items()), 4))
            index.update(more.items())
            texts |= more
        with setsearch.open(tmp_path / f"fresh{step}.db", create=True, contexts="on") as fresh:
            fresh.add(texts.items())
            for by in ("both", "contexts"):
                expected = fresh.items("terms").expand(["apple", "lion"], 99, by=by, explain=True)
                options = {"by": by, "explain": True, "fresh": "now"}
                assert index.items("terms").expand(["apple", "lion"], 99, **options) == expected
        assert index.check() == []


def test_an_updated_document_without_text_has_no_contexts(index):
    texts = random_texts(1)
    index.add(texts.items())
    index.update([("d00", ["apple", "apple"])])
    hits = index.items("terms").expand(["lion"], 99, by="contexts", fresh="now", neighbors=0, vectors=0)
    rest = {name: text for name, text in texts.items() if name != "d00"}
    expected = expected_scores(rest, ["lion"], CONTEXTS)
    assert {h.item: h.score for h in hits} == pytest.approx(expected, abs=2e-5)


def test_how_contexts_are_written(index):
    texts = ["big red apple pie here", "big red pear pie here", "eats apple", "apple, pear and plum", "plum"]
    index.add([(str(number), text) for number, text in enumerate(texts)])
    features = index.items("terms").features(["apple"], 99, by="both", binarize="presence")
    shown = {feature.feature for feature in features}
    assert shown >= {"red _", "big · _", "_ pie", "_ · here", "red _ pie", "big red _ pie", "big red _", "_ pie here"}
    assert shown >= {"listed with plum", "listed with pear", "3"}


@pytest.mark.parametrize("title", ["Apple", "apple", "Apple (fruit)", " Apple. "])
def test_a_document_with_a_word_as_its_title_describes_it(tmp_path, title):
    plain = [(f"d{n}", f"the apple, a pear and a plum {n}") for n in range(4)]
    for name, document in (("a", ("x", "sweet round", title)), ("b", ("fruit/Apple.txt", "sweet round"))):
        with setsearch.open(tmp_path / f"{name}.db", create=True, contexts="on") as index:
            index.add([*plain, document, ("y", "sweet round plum", "Plum"), ("7", "sweet round pear")])
            terms = index.items("terms")
            for word in ("apple", "plum", "pear"):
                features = {part.feature for part in terms.features([word], 99, by="contexts", binarize="presence")}
                own = {"its own text has sweet", "its own text has round"} & features
                assert len(own) == (0 if word == "pear" else 2), "7 is a number, no title"


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("lions, tigers and wolves", [["lions", "tigers", "wolves"]]),
        ("lions and tigers", []),
        ("a lion, a tiger, and the wolf eat", [["lion", "tiger", "wolf"]]),
        ("red, green. blue, old or new, big", [["blue", "old", "new", "big"]]),
        ("x, , y, z", []),
    ],
)
def test_lists(text, lists):
    """The pattern of the code finds what a reader would."""
    (tokens,) = [tokens for _, tokens in tokens_of({"d": text})]
    letters = "".join(
        {",": ",", ".": "."}.get(t) or ("&" if t in contexts.CONJUNCTIONS else "a" if t in contexts.ARTICLES else "w")
        for t in tokens
    )
    found = [
        [t for t, k in zip(tokens[m.start() : m.end()], m.group(), strict=True) if k == "w"]
        for m in contexts._find_lists(letters)
    ]
    assert found == lists == list(lists_of(tokens))


@examples(100)
@given(st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=8), st.randoms(use_true_random=False))
def test_documents_of_words_in_steps_are_those_at_once(documents, rng):
    """Of documents in any order of their ids, some of them empty, and words of which some are no items."""
    ids = np.array(rng.sample(range(20), len(documents)), np.int64)
    lengths = np.array([len(own) for own in documents], np.int64)
    tokens = np.array([token for own in documents for token in own], np.int32)
    item_of = np.array([-1, -1, -1, 1, 0, -1, 2])
    text = stream.separate(stream.Tokens(ids, lengths, tokens, [*stream.MARKS, *"abcd"]))
    expected = Counter(
        (id, int(item_of[token])) for id, own in zip(ids.tolist(), documents, strict=True) for token in own
    )
    with pytest.MonkeyPatch.context() as context:
        context.setattr(contexts, "TOKENS_OF_STEP", rng.choice([1, 3, 1 << 20]))
        found = contexts.document_field(text, item_of)
    cells = zip(*(own.tolist() for own in found), strict=True)
    assert [*cells] == sorted((*cell, count) for cell, count in expected.items() if cell[1] >= 0)


def test_phrases(tmp_path, monkeypatch):
    rng = random.Random(1)
    filler = [rng.choice(WORDS) for _ in range(4000)]
    for place in range(0, 4000, 50):
        filler[place : place + 2] = ["new", "york"]
    for place in range(25, 4000, 100):
        filler[place : place + 3] = ["san", "juan", "bay"]
    texts = [(f"d{n}", " ".join(filler[n * 100 : n * 100 + 100])) for n in range(40)]
    with setsearch.open(tmp_path / "p.db", create=True, contexts="phrases") as index:
        index.add(texts)
        reading = index.items("terms")
        every = {hit.item for hit in reading.expand(["New  York"], 9999, by="contexts", keep_seeds=True)}
        assert {"new york", "san juan bay"} <= every
        assert not {"new", "york", "san juan"} & every
        with pytest.raises(errors.UnknownItem, match="'york'"):
            reading.expand(["york"], by="contexts")
        for seeds in (["newyork"], ["new york", "newyork"]):
            with pytest.raises(errors.UnknownItem, match=r"no 'newyork' among .*; did you mean 'new york'"):
                reading.expand(seeds)
        with pytest.raises(errors.UnknownItem, match="did you mean 'new york'"):
            reading.expand(["new york"], exclude=["newyork"])
        for by in ("contexts", "documents", None):
            with pytest.raises(errors.UnknownItem) as told:
                reading.expand([f"{WORDS[0].title()} {WORDS[1]}"], by=by)
            way_out = f"its words are, but not as a phrase; give each by itself: {WORDS[0].title()} {WORDS[1]}"
            pasted = (f"{WORDS[0]} {WORDS[1]} " * 9).strip()  # no phrase, but a text
            with pytest.raises(errors.UnknownItem, match=r"`setsearch info`|did you mean"):
                reading.expand([pasted], by=by)
            assert str(told.value).endswith(f"{'terms in context' if by == 'contexts' else 'terms'}: {way_out}")
        assert index.info()["contexts"]["phrases"] is True


def test_a_word_of_a_script_without_blanks_is_told_to_need_a_dictionary():
    with setsearch.open(sqlite3.connect(":memory:"), create=True) as index:
        index.add([("a", "設定ファイルを変更します。"), ("b", "このファイルの os.path เครือข่าย")])
        terms = index.items("terms")
        for name, pairs in (
            ("ファイル", "ファ ァイ イル"),
            ("新設定", "新設 設定"),
            ("新設定を新", "新設 設定 定を ..."),
        ):
            told = rf"terms are pairs of characters \({pairs}\); texts that are indexed with `analyzer=icu`"
            with pytest.raises(errors.UnknownItem, match=told):
                terms.expand([name])
        for name in ("no.path", "off-line", "設定"):
            with pytest.raises(errors.QueryError) as told:
                terms.expand([name, "nothing"])
            assert "icu" not in str(told.value)


def test_a_phrase_without_blanks_is_named_as_people_write_it(tmp_path):
    """Pairs of characters overlap; where words are whole, or stand apart, nothing does."""
    rng = random.Random(1)
    texts = [(f"d{n}", " 超级用户 ".join(" ".join(rng.choices(WORDS, k=30)) for _ in range(3))) for n in range(40)]
    with setsearch.open(tmp_path / "p.db", create=True, contexts="phrases") as index:
        index.add(texts)
        reading = index.items("terms")
        assert reading.expand(["超级用户"], 1, keep_seeds=True, by="contexts")[0].item == "超级用户"
        with pytest.raises(errors.UnknownItem, match=r"terms are pairs of characters \(超级 级用\)"):
            reading.expand(["超级用"])
    for kind, name, written in (
        (UNICODE, "超级 级用 用户", "超级用户"),
        (UNICODE, "中国 人民", "中国 人民"),
        (UNICODE, "class system 문서 서관", "class system 문서관"),
        (UNICODE, "ก็ม ม่า", "ก็ม ม่า"),
        (OLD, "中国 国家", "中国 国家"),
    ):
        assert words_of_kind(kind).phrase(name) == written
    pytest.importorskip("icu")
    assert words_of_kind(ICU).phrase("中国 国家") == "中国 国家"


def test_a_phrase_must_be_frequent_and_strong():
    words = ("x y " * 20 + "p q r s " * 20).split()
    made = stream.token_stream(stream.tokenize([(0, " ".join(words))], words_of_kind(UNICODE)), True)
    assert any(" " in name for name in made.names)
    rare = stream.token_stream(stream.tokenize([(0, "x y z " * 14)], words_of_kind(UNICODE)), True)
    assert not any(" " in name for name in rare.names)


def test_words_that_are_too_rare_are_asked_of_documents(index):
    index.add([*random_texts(2).items(), ("z", "apple zebra"), ("y", "apple okapi")])
    reading = index.items("terms")
    assert reading.expand(["zebra"]) == reading.expand(["zebra"], by="documents")
    assert reading.expand(["apple"]) == reading.expand(["apple"], by="both")
    assert reading.words_without_contexts(["apple", "zebra"]) == ["zebra"]
    assert reading.words_without_contexts(["apple", "zebra"], by="documents") == []
    with pytest.raises(errors.UnknownItem, match=r"'zebra' among the .* terms in context"):
        reading.expand(["zebra"], by="contexts")
    many = reading.expand_many([["apple"], ["apple", "zebra"]])
    assert many == [reading.expand(["apple"]), reading.expand(["apple", "zebra"])]
    with pytest.raises(errors.InvalidParameter, match="'words'"):
        reading.expand(["apple"], by="words")
    with pytest.raises(errors.InvalidParameter, match="for terms"):
        index.items("documents").expand(["z"], by="contexts")


def test_the_papers_model_stays_with_documents(index):
    index.add(random_texts(2).items())
    reading = index.items("terms")
    plain = reading.expand(["apple"], model="bernoulli")
    assert plain == reading.expand(["apple"], model="bernoulli", by="documents")
    by_context = reading.expand(["apple"], model="bernoulli", by="contexts")
    parts = [reading.explain(["apple"], hit.item, model="bernoulli", by="contexts") for hit in by_context]
    assert [part.score for part in parts] == pytest.approx([hit.score for hit in by_context], abs=1e-6)


def test_contexts_come_by_themselves_in_collections_of_middle_size(tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(random_texts(1).items())
        assert index.info()["contexts"] == {}
        assert index.items("terms").expand(["apple"]) == index.items("terms").expand(["apple"], by="documents")
        with pytest.raises(errors.InvalidParameter, match="contexts"):
            index.items("terms").expand(["apple"], by="contexts")
        monkeypatch.setattr("setsearch.storage.relation.FEWEST_WORDS", 10)
        index.update([("new", "apple pear")])
        assert index.items("terms").expand(["apple"]) == index.items("terms").expand(["apple"], by="both")
        assert index.info()["contexts"]["up_to_date"]
        monkeypatch.setattr("setsearch.storage.relation.MOST_WORDS", 20)
        index.update([("newer", "apple pear")])
        assert index.items("terms").expand(["apple"]).contexts_revision == 2, "the last ones"
        found = index.items("terms").expand(["apple"], fresh="now")
        assert found == index.items("terms").expand(["apple"], by="documents")
        assert found.contexts_revision is None


def test_contexts_that_cannot_be_stored_stay_in_memory(index, tmp_path):
    index.add(random_texts(1).items())
    before = index.items("terms").expand(["apple"])
    index.update([("new", "apple pear")])
    assert not index.info()["contexts"]["up_to_date"]
    with setsearch.open(tmp_path / "words.db", timeout=0) as other:
        holder = sqlite3.connect(tmp_path / "words.db", isolation_level=None)
        holder.execute("begin immediate")
        terms = other.items("terms")
        assert terms.expand(["apple"]) == before
        found = terms.expand(["apple"], fresh="now")
        assert (found.revision, found.contexts_revision) == (2, 2)
        with pytest.raises(errors.LockedDatabase):
            other.refresh("now")
        holder.execute("rollback")
        holder.close()
        assert terms.expand(["apple"]) == found, "memory has the contexts of the present texts"
    assert index.items("terms").expand(["apple"]) == before
    index.refresh("now")
    assert index.info()["contexts"]["up_to_date"]
    assert index.items("terms").expand(["apple"]) == found


def test_without_contexts_no_text_is_kept(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(random_texts(1).items())
        with index._database.read() as cursor:
            assert cursor.execute("select count(*) from setsearch_text").fetchone() == (0,)
    with pytest.raises(errors.InvalidParameter, match="'maybe'"):
        setsearch.open(tmp_path / "b.db", create=True, contexts="maybe")


def test_a_damaged_text_is_named(index):
    index.add(random_texts(1).items())
    with index._database.write() as cursor:
        cursor.execute("update setsearch_text set data = x'00'")
    with pytest.raises(errors.CorruptIndex, match="stored text"):
        index.items("terms").expand(["apple"])


def test_how_often_a_word_must_occur():
    assert [contexts.least_count(n) for n in (100, 100_000, 1_000_000, 10**7)] == [2, 2, 8, 20]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("update setsearch_array set data = zeroblob(9) where name = 'tokens'", "damaged or gone"),
        ("delete from setsearch_array where name = 'token lengths' and slice = 0", "damaged or gone"),
        ("update setsearch_array set slice = slice + 7 where name = 'nearest words'", "damaged or gone"),
    ],
)
def test_damage_of_what_was_derived_is_found(index, statement, problem):
    index.add(random_texts(1).items())
    index.refresh("now")
    expected = index.items("terms").expand(["apple"]), index.items("documents").expand(["d01"])
    assert index.check() == []
    with index._database.write() as cursor:
        cursor.execute(statement)
    (line,) = index.check()
    assert problem in line
    index.close()
    delete_arrays(index._database.path)
    with setsearch.open(index._database.path) as again:
        assert (again.items("terms").expand(["apple"]), again.items("documents").expand(["d01"])) == expected


@pytest.mark.parametrize("options", [{"contexts": "phrases"}, {"contexts": "on", "language": "english"}])
def test_without_a_file_contexts_follow_from_the_tokens_of_their_revision(tmp_path, monkeypatch, options):
    """Also after later writes, of documents with other ids than in the order of their names, and with holes."""
    place, texts = tmp_path / "a.db", random_texts(5, n=60)
    with setsearch.open(place, create=True, **options) as index:
        index.add(reversed(random_titles(texts, 5)))
        index.delete(["d03", "d59"])
        index.refresh("now")
        index.update([("d00", "a lion, a tiger and an okapi"), ("e", "okapi")])
        index.delete(["d07"])

    def ask():
        with setsearch.open(place) as index:
            terms, found = index.items("terms"), [index.info()["contexts"]]
            for by in ("both", "contexts"):
                found.append(terms.expand(["apple", "lion"], 99, by=by, explain=True))
                found.append(terms.features(["apple"], 999, by=by))
            assert found[1].contexts_revision == 2 < found[1].revision
            return [*found, terms.word_notes(["apple", "okapi"])]

    expected = ask()
    monkeypatch.setenv("SETSEARCH_ARRAYS", "0")
    assert ask() == expected
    monkeypatch.delenv("SETSEARCH_ARRAYS")
    delete_arrays(place)
    assert ask() == expected
    monkeypatch.setattr("setsearch.memory.contexts.word_contexts.derived_contexts", None)
    assert ask() == expected, "the file was written again"


@pytest.mark.parametrize(
    "value", [-1, 0, 2**31, 2**62, None, "7", "[]", "[[]]", '["", ".", ",", 7]', "no", "[[1, 2, 3]]"]
)
def test_what_a_stranger_wrote_gives_no_contexts(tmp_path, value):
    """Under right checksums, of each array: contexts are derived anew from the texts."""
    place = tmp_path / "a.db"
    with setsearch.open(place, create=True, contexts="on") as index:
        index.add(random_texts(1).items())
        index.refresh("now")
        expected = index.items("terms").expand(["apple"], 99, explain=True)
        with index._database.read() as cursor:
            sound = find_generation(load_relations(cursor)[0]).within(cursor)
            arrays = {
                name: sound.array(name) for (name,) in cursor.execute("select distinct name from setsearch_array")
            }
    for name, array in arrays.items():
        is_text = array[:1].tolist() in ([ord("[")], [ord("{")])
        if name == "token stems" or is_text != isinstance(value, str):
            continue
        new = np.frombuffer(value.encode(), np.uint8) if is_text else array[:-1] if value is None else array * 0 + value
        with sqlite3.connect(place) as connection:
            (generation,) = connection.execute("select id from setsearch_generation").fetchone()
            connection.execute("delete from setsearch_array where name = ?", (name,))
            rows = [generations._packed(generation, own) for own in generations._slices(name, new)]
            connection.executemany("insert into setsearch_array values (?, ?, ?, ?)", rows)
        delete_arrays(place)
        with setsearch.open(place) as index:
            try:
                hits = index.items("terms").expand(["apple"], 99, explain=True)
            except errors.CorruptIndex:  # the next question derives anew
                hits = index.items("terms").expand(["apple"], 99, explain=True)
            assert hits == expected or name in UNCHECKED, name
            index.replace(random_texts(1).items())
            index.refresh("now")


# What sound numbers of a stranger may be: other texts, or other neighbors.
UNCHECKED = ("tokens", "nearest words", "similarities")


def test_contexts_can_be_chosen_later(tmp_path):
    place, texts = tmp_path / "a.db", random_texts(1)
    with setsearch.open(place, create=True, contexts="off") as index:
        index.add(texts.items())
    with setsearch.open(place, contexts="on") as index:
        with pytest.raises(errors.UsageError, match="replace"):
            index.update(texts.items())
        index.replace(texts.items())
        expected = index.items("terms").expand(["apple"], 99, by="contexts")
        assert expected
    with setsearch.open(place, contexts="phrases") as index:
        index.update([("d00", texts["d00"])])
        assert index.items("terms").expand(["apple"], 99, by="contexts")
        assert index.info()["contexts"]["phrases"]
    with setsearch.open(place, contexts="off") as index:
        with pytest.raises(errors.UsageError, match="stores texts"):
            index.update(texts.items())
        index.replace(texts.items())
        assert index.info()["contexts"] == {}


def test_a_word_that_stands_in_phrases_only_is_told_so(tmp_path):
    rng = random.Random(2)
    filler = [rng.choice(WORDS) for _ in range(4000)]
    for place in range(0, 4000, 50):
        filler[place : place + 2] = ["west", "indies"] if place % 200 else ["dutch", "indies"]
    with setsearch.open(tmp_path / "p.db", create=True, contexts="on") as index:
        index.add([(f"d{n}", " ".join(filler[n * 100 : n * 100 + 100])) for n in range(40)])
        terms = index.items("terms")
        (note,) = terms.word_notes(["indies", "dutch indies"])
        assert note == "indies: nearly always part of a phrase, such as 'west indies', so only its documents count"
        assert "'west indies' is a phrase, too; in quotes it is one example" in terms.word_notes(["west", "indies"])


def test_who_has_asked_nothing_is_told_the_same_of_contexts(tmp_path):
    with setsearch.open(tmp_path / "x.db", create=True, contexts="on") as index:
        index.add(random_texts(1).items())
        index.refresh("now")
        told = index.info()["contexts"]
    assert told["terms"] and told["up_to_date"] and set(told) >= {"win2", "skip", "lists", "titled", "documents"}
    with setsearch.open(tmp_path / "x.db") as index:
        assert index.info()["contexts"] == told
        index.items("terms").expand(["lion"])
        assert index.info()["contexts"] == told


def test_pairs_of_a_pattern_are_gone_when_they_were_used(monkeypatch):
    """They are as many as tokens, of two patterns at once."""
    gone = []

    class Pairs:
        """As many pairs of each pattern."""

        def slices(self, _):
            return [contexts.ALL_WORDS]

        def of(self, *_):
            keys, items = np.arange(40) // 2, np.arange(40, dtype=np.int32)
            self.keys, self.items = weakref.ref(keys), weakref.ref(items)
            return keys, items

    pairs = Pairs()
    monkeypatch.setenv("SETSEARCH_THREADS", "0")

    def sort(cells):
        gone.append(pairs.items() is None and pairs.keys() is cells)  # sorted where they are
        cells.sort()

    monkeypatch.setattr(contexts, "sort", sort)
    counted = [*contexts.context_fields(pairs)]
    assert [len(field.keys) for _, field in counted] == [80, 100, 20, 20]
    assert gone == [True] * 11


@pytest.mark.parametrize("number", range(3))
def test_contexts_counted_in_slices_are_those_at_once(number, monkeypatch):
    analyzer, texts = Analyzer(), sorted(random_texts(number, 60).items())
    found = stream.tokenize(enumerate(text for _, text in texts), analyzer.words)
    text = stream.token_stream(stream.arrange(np.arange(len(texts)), [found]), False)
    items = contexts.choose_items(text.names, text.counts, len(text.tokens), analyzer)
    pairs = contexts.ContextPairs(text, items, [name for name, _ in texts], ["lion"] * len(texts))
    at_once = [*contexts.context_fields(pairs)]
    monkeypatch.setattr(contexts, "PAIRS_OF_SLICE", len(pairs._begins) // 3)
    assert [len(pairs.slices(own)) > 2 for own in ((-2,), (1, 2), contexts.LIST)] == [True, True, False]
    in_slices = [*contexts.context_fields(pairs)]
    for (name, own), (other, sliced) in zip(at_once, in_slices, strict=True):
        assert name == other and np.array_equal(own.keys, sliced.keys)
        assert all(map(np.array_equal, own.cells, sliced.cells))
        assert own.cells.counts.dtype == sliced.cells.counts.dtype
    assert min(len(own.keys) for name, own in at_once if name in ("win2", "skip")) > 9


@pytest.mark.parametrize("pattern", [pattern for field in ("win2", "skip") for pattern in contexts.FIELDS[field]])
def test_neighbors_found_in_steps_are_those_at_once(pattern, monkeypatch):
    chance = np.random.default_rng(0)
    tokens, places = chance.integers(0, 5, 60).astype(np.int32), np.flatnonzero(chance.random(56) < 0.5)
    items = chance.integers(0, 9, len(places)).astype(np.int32)
    around = [[int(tokens[place + contexts.FARTHEST + offset]) for offset in pattern] for place in places]
    expected = [(words, item) for words, item in zip(around, items.tolist(), strict=True) if all(words)]
    monkeypatch.setattr(contexts, "STEP", 7)
    keys, owners = contexts._neighbors(tokens, (places, items), pattern, contexts.ALL_WORDS)
    shifts = range(contexts.BITS * (len(pattern) - 1), -1, -contexts.BITS)
    words = [[key >> shift & (1 << contexts.BITS) - 1 for shift in shifts] for key in keys.tolist()]
    assert [*zip(words, owners.tolist(), strict=True)] == expected and len(expected) > 9


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("clip", [False, True])
def test_many_narrow_places_are_taken_in_steps(dtype, clip):
    chance = np.random.default_rng(0)
    values, places = (
        chance.integers(0, 9, 1000),
        chance.integers(0, 1000 + 50 * clip, 2 * arrays.STEP + 7).astype(dtype),
    )
    assert np.array_equal(arrays.take(values, places, clip), values[np.minimum(places, 999)])


@examples(200)
@given(
    st.lists(st.tuples(st.integers(0, 9) | st.integers(0, 2**62), st.integers(0, 3)), max_size=40),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_pairs_are_counted(pairs, times, least):
    """Ranks of the keys that occur often enough, and entries of the keys that have items enough."""
    keys, items = np.array(sorted(pairs), np.int64).reshape(-1, 2).T.copy()
    often = Counter(key for key, _ in pairs)
    possible = sorted(key for key, count in often.items() if count >= times)
    kept = sorted((possible.index(key), item) for key, item in pairs if often[key] >= times)
    items_of = Counter(rank for rank, _ in {*kept})
    enough = [rank for rank in range(len(possible)) if items_of[rank] >= least]
    entries = [(enough.index(rank), item, n) for (rank, item), n in sorted(Counter(kept).items()) if rank in enough]
    cells, ranked = contexts.rank_keys(keys, items.astype(np.int32), times)
    assert ranked.tolist() == possible
    assert cells.tolist() == [rank << contexts.BITS | item for rank, item in kept]
    found, chosen = contexts.count_cells(cells, least)
    assert [*zip(*(own.tolist() for own in found), strict=True)] == entries
    assert chosen.tolist() == enough
