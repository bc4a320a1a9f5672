"""Pairs of words and character n-grams as features: they count as the definition says, and are no items."""

import json
import random

import pytest
from oracle import RARITY, lift_scores, same_scores

import setsearch
from setsearch.text.analyzer import Analyzer

WORDS = "red wine white glass house street lion tiger hunts sleeps old new".split()


def texts(count=40, seed=1):
    rng = random.Random(seed)
    return {f"d{number}": " ".join(rng.choices(WORDS, k=8)) for number in range(count)}


@pytest.mark.parametrize("kind", ["unicode+pairs", "unicode+4-grams", "unicode+pairs+3-grams"])
def test_scores_equal_the_definition_over_all_features(tmp_path, kind):
    data = texts()
    analyzer = Analyzer(function=kind)
    counts = {name: {f: analyzer(text).count(f) for f in analyzer(text)} for name, text in data.items()}
    with setsearch.open(tmp_path / "a.db", create=True, analyzer=kind) as index:
        index.add(data.items())
        documents = index.items("documents")
        assert documents.features_of("d1") == dict(sorted(counts["d1"].items()))
        expected = lift_scores(counts, ["d1", "d2"], rarity=RARITY)
        same_scores(documents.expand(["d1", "d2"], 40, feedback=0), expected, ["d1", "d2"], 2e-6)
    with setsearch.open(tmp_path / "a.db") as index:  # nobody has to name them again
        index.update([("d1", "red wine")])
        assert set(index.items("documents").features_of("d1")) == set(analyzer("red wine"))


def test_ngrams_are_no_items_and_words_are_found_by_name(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, analyzer="unicode+pairs+4-grams") as index:
        index.add(texts().items())
        hits = index.items("terms").expand(["red"], 1000)
        assert not any(hit.item.startswith("~") for hit in hits)
        assert {"wine", "red wine"} <= {hit.item for hit in hits}
        documents = index.items("documents")
        assert documents.expand([], 3, having=["wine"])[0].score > 0
        hit = documents.expand([], 1, like=["the old lions"], explain=True, snippets=True)[0]
        assert {"~lion", "lion"} & {part.feature for part in hit.features}


def test_the_command_line_makes_them(run, tmp_path):
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps({"id": k, "text": v}) for k, v in texts().items()))
    assert run("index", "a.db", "t.jsonl", "--pairs", "--ngrams", "4")[0] == 0
    code, out, _ = run("features", "a.db", "d1", "d2", "--items", "documents", "-k", "99", "--json")
    names = {row["feature"] for row in json.loads(out)}
    assert code == 0 and any(name.startswith("~") for name in names) and any(" " in name for name in names)
    assert run("index", "a.db", "t.jsonl", "--ngrams", "5")[0] == 2
    assert run("index", "b.db", "t.jsonl", "--ngrams", "9")[0] == 2
    assert run("index", "a.db", "t.jsonl")[0] == 0
