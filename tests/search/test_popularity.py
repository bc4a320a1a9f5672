"""Likes: the prior equals its definition, and does not change what is asked for kinds."""

import random
from math import log
from statistics import fmean, pstdev

import pytest
from oracle import lift_scores, same_scores
from samples import random_data

import setsearch
from setsearch import errors


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    data = random_data(7, 60, 40, 0.3)
    with setsearch.open(tmp_path_factory.mktemp("likes") / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
        yield data, index.items("film")


@pytest.mark.parametrize("n_seeds", [1, 2, 5])
def test_likes_equal_their_definition(built, n_seeds):
    data, reading = built
    seeds = random.Random(n_seeds).sample(sorted(data), n_seeds)
    kind = lift_scores(data, seeds, slope=1.0, binarization="presence")
    logs = {item: log(sum(1 for count in own.values() if count)) for item, own in data.items()}
    share = 2 / n_seeds * pstdev(kind.values()) / pstdev(logs.values())
    expected = {item: kind[item] + share * (logs[item] - fmean(logs.values())) for item in data}
    hits = reading.expand(seeds, 100, purpose="likes", explain=True)
    same_scores(hits, expected, seeds, 2e-6)
    for hit in hits:
        assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, abs=1e-9)
        explained = reading.explain(seeds, hit.item, purpose="likes")
        assert (explained.score, explained.base) == (pytest.approx(hit.score, abs=1e-12), pytest.approx(0, abs=1e-12))
    assert reading.expand(seeds, 100, purpose="kind") == reading.expand(seeds, 100)
    among = [hit.item for hit in hits[::2]]
    assert [hit.item for hit in reading.rank(among, seeds, purpose="likes")] == among


def test_the_order_of_writes_does_not_matter(built, tmp_path):
    data, reading = built
    with setsearch.open(tmp_path / "b.db", create=True) as index:
        index.add([*data.items()][::-1], ("film", "user"))
        asked = {"k": 50, "purpose": "likes", "exclude": ["i3"], "gamma": 0.5}
        assert index.items("film").expand(["i1", "i2"], **asked) == reading.expand(["i1", "i2"], **asked)


def test_where_it_has_no_meaning_it_is_refused(built, tmp_path):
    with pytest.raises(errors.InvalidParameter, match="one of kind, likes"):
        built[1].expand(["i1"], purpose="love")
    with pytest.raises(errors.InvalidParameter, match="by the model lift"):
        built[1].expand(["i1"], purpose="likes", model="bernoulli")
    with setsearch.open(tmp_path / "t.db", create=True) as index:
        index.add([("a", "lion tiger"), ("b", "lion")])
        with pytest.raises(errors.InvalidParameter, match="relations such as ratings"):
            index.items("documents").expand(["a"], purpose="likes")


def test_the_command_line_asks_for_likes(run, tmp_path):
    lines = ["film,user", *(f"f{n},u{m}" for n in range(9) for m in range(9) if (n * m) % 4 < n % 3 + 1)]
    (tmp_path / "r.csv").write_text("\n".join(lines))
    assert run("index", "a.db", "r.csv", "--items", "film", "--features", "user")[0] == 0
    kind, likes = (run("expand", "a.db", "f1", "--items", "film", "--for", what)[1] for what in ("kind", "likes"))
    assert kind != likes
