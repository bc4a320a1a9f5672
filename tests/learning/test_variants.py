"""Other ways to index documents are measured as if the collection had been indexed so."""

import random

import pytest

import setsearch
from setsearch.errors import UsageError
from setsearch.learning import Design, evaluate
from setsearch.learning.variants import open_variants

TOPICS = {
    "cats": "lion tiger leopard panther the of fur claws".split(),
    "crops": "wheat barley oats rye the of field seeds".split(),
    "dances": "waltz tango polka rumba the of steps music".split(),
}
WAYS = {
    "index --stop-words": {"stop_words": True},
    "index --pairs": {"analyzer": "unicode+pairs"},
    "index --ngrams 4": {"analyzer": "unicode+4-grams"},
    "index --title-weight 0": {"analyzer": "unicode+0-titles"},
    "vectors --latent": {},
}


def documents():
    rng = random.Random(4)
    words = [word for own in TOPICS.values() for word in own]
    for topic, own in TOPICS.items():
        for number in range(12):
            text = rng.choices(own, k=5) + rng.choices(words, k=6) + [f"{topic}{number}x{n}" for n in range(9)]
            yield f"{topic}-{number:02}", " ".join(text), rng.choice(own)  # words of its own, so that none is a copy


def measured(index, **variants):
    sets = {topic: [f"{topic}-{number:02}" for number in range(12)] for topic in TOPICS}
    reading = index.items("documents")
    with reading.fields() as fields:
        found = evaluate(fields, reading.defaults, sets, Design(2, 3), **variants)
    return {result.method: result for result in found.results}


@pytest.mark.long
def test_a_variant_is_measured_as_a_collection_of_its_own(tmp_path):
    settings = {"language": "english", "contexts": "on", "create": True}
    with setsearch.open(tmp_path / "a.db", **settings) as index:
        index.add([("gone", "lion", None), *documents()])
        index.delete(["gone"])  # ids differ from those of an index that never had it
        with open_variants(index.items("documents")) as variants:
            assert set(variants) == set(WAYS)
            found = measured(index, variants=variants)
    for number, (name, how) in enumerate(WAYS.items()):
        with setsearch.open(tmp_path / f"{number}.db", **settings | {"contexts": "off"} | how) as index:
            index.add(documents())
            if name == "vectors --latent":
                index.add_latent("documents")
            expected = measured(index)["lift"]
        assert found[f"lift, {name}"][2:] == expected[2:]
    assert found["lift"].by_set != found["lift, index --title-weight 0"].by_set


def test_only_documents_with_texts_have_variants(tmp_path, run, failed):
    (tmp_path / "sets.json").write_text('{"cats": ["cats-00", "cats-01", "cats-02", "cats-03"]}')
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(documents())
        with pytest.raises(UsageError, match="terms are none"), open_variants(index.items("terms")):
            pass
    with setsearch.open(tmp_path / "b.db", create=True, contexts="off") as index:
        index.add(documents())
    assert "--pairs" in run("evaluate", "a.db", "sets.json", "--items", "documents", "--variants")[1]
    failed(run("evaluate", "b.db", "sets.json", "--items", "documents", "--variants"), 2, "texts", "cats-00")
