"""Groups of saved sets: what excludes, what lies within, and scores beside rivals."""

import json
import random
import sqlite3
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from oracle import floor_of
from test_claims import make
from test_inbox import TOPICS, fill, texts, vague

import setsearch
from setsearch import errors
from setsearch.answers.saved import together
from setsearch.answers.saved.groups import Groups
from setsearch.answers.saved.heights import Highest
from setsearch.answers.saved.rivals import Rivalry
from setsearch.answers.saved.standing import Several, Weighed, _weigh_known
from setsearch.core import binding
from setsearch.core.question import now
from setsearch.search import weights

STEP = 2**-36  # of what is subtracted


def alone(index, name, taken=None, **options):
    """What the question of one set says of each item but its rejected ones: {item: (score, belongs)}.

    `taken`: what others take from each item where it is chosen what joins.
    """
    own = index.set(name)
    reading = index.items(own.items)
    if taken is None:
        hits = reading.expand(
            own.accepted, reading.item_count(), exclude=own.rejected, cut="mark", keep_seeds=True, groups=1, **options
        )
        return {hit.item: (hit.score, hit.belongs) for hit in hits}

    def answer(fields_by):
        """The same by the parts of a question."""
        (fields, *_) = reading.candidates(fields_by)
        ids = {item: fields.resolve(item) for item in taken}
        array = np.zeros(max(ids.values()) + 1)
        array[[*ids.values()]] = [*taken.values()]
        marks = tuple(own.accepted), tuple(own.rejected)
        found = now(_weigh_known(reading, fields_by, marks, {}, False, array))
        scores, known = found.weights.scores() + found.weights.constant, found.weighed
        return {
            item: (float(scores[id]), bool(scores[id] > known.line) if known.is_told else None)
            for item, id in ids.items()
            if item not in own.rejected
        }

    return reading.answer(reading.plan(1, {}), answer)


def heights(index, name, scores):
    """The height of each item in a set, and the unit."""
    own = index.set(name)
    free = sorted((score for item, score in scores.items() if item not in own.accepted), reverse=True)
    n_items = len(index.items(own.items).expand(own.accepted, 1000, keep_seeds=True))
    floor = floor_of(free, n_items) if free else 0.0
    unit = max(sum(free[:5]) / len(free[:5]) - floor, 0.0) if free else 0.0
    return {i: (s - floor) / unit if unit else 0.0 for i, s in scores.items()}, unit


def beside(index, name, rivals_of):
    """As `alone`, where what fits rivals better by one pass is not what joins."""
    first = {
        own: heights(index, own, {i: s for i, (s, _) in alone(index, own, None, feedback=0.0, gamma=0.0).items()})
        for own in [name, *rivals_of[name]]
    }
    have = {item for other in rivals_of[name] for item in index.set(other).accepted}
    items = {item for own, _ in first.values() for item in own}
    best = {i: max([first[other][0].get(i, 0.0) for other in rivals_of[name]] + [0.0]) for i in items}
    unit = first[name][1]
    taken = {i: float("inf") if i in have else 0.5 * unit * best[i] for i in items}
    return alone(index, name, taken if unit else None)


def kin(under, one, other):
    """Whether a set lies within another, or that within it."""

    def wholes(name):
        """All sets within which one lies."""
        return [under[name], *wholes(under[name])] if under.get(name) else []

    return one in wholes(other) or other in wholes(one)


def definition(index, rivals, under):
    """{set: {item: (score, belongs, better)}} as the top of rivals.py says, in plain words.

    `rivals` are the sets of one exclusive group, `under` the wholes of parts.
    """
    sets = {name: index.set(name) for name in index.sets()}
    rivals_of = {
        name: [o for o in sorted(rivals) if name in rivals and o != name and not kin(under, name, o)] for name in sets
    }
    said = {name: beside(index, name, rivals_of) if rivals_of[name] else alone(index, name) for name in sets}
    height, unit, found = {}, {}, {}
    for name in sets:
        height[name], unit[name] = heights(index, name, {item: score for item, (score, _) in said[name].items()})
    for name in sorted(sets):
        others, found[name] = rivals_of[name], {}
        for item, (score, belongs) in said[name].items():
            best, who = -float("inf"), None
            for other in others:
                if height[other].get(item, -float("inf")) > best:
                    best, who = height[other][item], other
            taken = [other for other in others if item in sets[other].accepted]
            penalty = max(best, 0.0) * 0.5 * unit[name]
            is_higher = height[name][item] > best and not taken
            better = taken[-1] if taken else None if is_higher else who
            found[name][item] = (score - penalty, belongs and is_higher if belongs is not None else None, better)
    for name in sorted(sets, key=lambda name: len([o for o in sets if kin(under, name, o)])):
        whole = under.get(name)
        while whole:
            for item, (score, belongs, better) in found[name].items():
                told = found[whole].get(item)
                inside = item in sets[whole].accepted or (told is not None and told[1] is not False)
                found[name][item] = (score, belongs and inside if belongs is not None else None, better)
            whole = under.get(whole)
    return found


def compare(index, rivals=(), under=None):
    """Compare the answers of all sets, and the claims of all items, with the definition."""
    expected = definition(index, rivals, under or {})
    of_hits = {}
    for name, rows in expected.items():
        own = index.set(name)
        try:
            hits = own.expand(1000, cut="mark", explain=True)
        except errors.NothingToRank:
            hits = []
        others = [other for other in rivals if name in rivals and other != name and not kin(under or {}, name, other)]
        taken = {item for other in others for item in index.set(other).accepted}
        left = {item: row for item, row in rows.items() if item not in own.accepted and item not in taken}
        belong = {item: row[1] for item, row in left.items()}
        assert {hit.item: hit.belongs for hit in hits} == belong
        scores = {hit.item: hit.score for hit in hits}
        assert scores == {item: pytest.approx(row[0], abs=STEP) for item, row in left.items()}
        of_hits[name] = scores
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            assert sum(part.weight for part in hit.features) + hit.rest == pytest.approx(hit.score, abs=1e-9)
            rival = [part.feature for part in hit.features if part.feature.startswith("fits ")]
            better = rows[hit.item][2]
            assert rival in ([], [f"fits {better} better"]) if better else not any("better" in own for own in rival)
    for item in {item for rows in expected.values() for item in rows}:
        for claim in index.sets_of(item, items="documents", k=None):
            own = index.set(claim.set)
            if item in own.rejected:
                assert claim.belongs is False
                continue
            score, belongs, better = expected[claim.set][item]
            assert claim.score == of_hits[claim.set].get(item, pytest.approx(score, abs=STEP)), "to the bit"
            assert claim.belongs == (item in own.accepted or belongs)
            if claim.said is None:
                assert claim.better == better
            if claim.belongs and claim.said is None:
                assert claim.score >= claim.line - 1e-9
    return expected


def put(index, group, *names, exclusive=None):
    """Put saved sets into a group."""
    for name in names:
        own = index.set(name)
        own.group = group
        own.save()
    return index.group(group, exclusive)


@pytest.fixture
def index():
    with make() as made:
        fill(made)
        both = [("both", TOPICS["cats"][:6] + TOPICS["grain"][:5]), ("more", TOPICS["cats"][:4] + TOPICS["grain"][:8])]
        made.add([(name, " ".join(words)) for name, words in both])
        made.keep_set("sea", ["sea1", "sea2", "sea3"], ["music1"], "documents")
        yield made


def test_scores_change_in_an_exclusive_group_alone(index):
    before = {name: index.set(name).expand(40, cut="mark", explain=True) for name in index.sets()}
    claims = index.sets_of("both", items="documents")
    assert [claim.belongs for claim in claims if claim.set in ("cats", "grain")] == [True, True]
    assert put(index, "kinds", "cats", "grain") == ("kinds", False, ("cats", "grain"))
    for name, hits in before.items():
        assert index.set(name).expand(40, cut="mark", explain=True) == hits, "a group that is not exclusive"
    assert index.sets_of("both", items="documents") == claims
    assert index.group("kinds", exclusive=True).exclusive and index.group("kinds").exclusive
    assert index.set("sea").expand(40, cut="mark", explain=True) == before["sea"], "it is in no group"
    compare(index, ["cats", "grain"])
    found = {claim.set: claim for claim in index.sets_of("both", items="documents")}
    assert (found["cats"].belongs, found["grain"].belongs, found["grain"].better) == (True, False, "cats")
    hit = next(hit for hit in index.set("grain").expand(20, explain=True) if hit.item == "both")
    assert "fits cats better" in [reason.label for reason in hit.reasons]
    assert "fits cats better" in [part.feature for part in hit.features]
    index.group("kinds", exclusive=False)
    for name, hits in before.items():
        assert index.set(name).expand(40, cut="mark", explain=True) == hits


@pytest.mark.skipif(binding.library() is None, reason="without a core numpy goes other ways")
def test_lists_of_rivals_are_added_once(index, monkeypatch):
    """What rejected items teach takes a pass over the lists, and a question beside rivals looks at it often."""
    added, add = [], weights.accumulate

    def noted(scores, *parts):
        added.append((scores.tobytes(), *(own.weights.tobytes() for own in parts)))
        add(scores, *parts)

    monkeypatch.setattr(weights, "accumulate", noted)
    put(index, "kinds", "cats", "grain", exclusive=True)
    assert index.set("cats").expand(3)
    assert len(added) == len({*added}) + 1, "the question of the set itself is asked again, for its hits"


def test_what_a_rival_has_or_rejected(index):
    put(index, "kinds", "cats", "grain", "sea", exclusive=True)
    assert "cats0" not in [hit.item for hit in index.set("grain").expand(50)]
    claims = {claim.set: claim for claim in index.sets_of("cats0", items="documents")}
    assert [(claims[name].belongs, claims[name].better) for name in ("cats", "grain", "sea")] == [
        (True, None),
        (False, "cats"),
        (False, "cats"),
    ]
    rejecting = index.set("cats")
    rejecting.reject("both")
    rejecting.save()
    compare(index, ["cats", "grain", "sea"])
    assert next(claim for claim in index.sets_of("both", items="documents") if claim.set == "grain").belongs


def test_the_inbox_claims_for_the_set_that_fits_best(index):
    index.inbox().done()
    new = [*texts([10, 11]), ("new", " ".join(TOPICS["cats"][2:8] + TOPICS["grain"][:5]))]
    index.add(new)
    assert [row.set for row in index.inbox() if row.item == "new"] == ["cats", "grain"]
    put(index, "kinds", "cats", "grain", exclusive=True)
    rows = [row for row in index.inbox() if row.item == "new"]
    assert [(row.set, row.others) for row in rows] == [("cats", ())]
    hits = {hit.item: hit.score for hit in index.set("cats").expand(60)}
    assert rows[0].score == hits["new"]


def test_a_part_lies_within_its_whole(index):
    index.keep_set("beasts", ["cats4", "cats5", "both"], ["cats9"], "documents", under="cats")
    index.keep_set("lions", ["cats6", "more"], items="documents", group="kinds", under="beasts")
    under = {"beasts": "cats", "lions": "beasts"}
    compare(index, [], under)
    put(index, "kinds", "cats", "grain", "beasts", exclusive=True)
    compare(index, ["cats", "grain", "beasts", "lions"], under)
    assert index.set("lions").under == "beasts"
    assert index.delete_set("beasts") == ["lions"], "its part is told"
    assert (index.set("lions").under, index.set("lions").group) == (None, "kinds")
    compare(index, ["cats", "grain", "lions"])


def test_of_what_a_set_is_its_whole_and_its_group_tell():
    with make() as index:
        index.add([("cats4", "lion"), ("cats5", "lion cat"), ("cats6", "cat"), ("grain1", "wheat")])
        assert index.items().name == "terms"
        index.keep_set("beasts", ["cats4"], items="documents", group="kinds")
        assert index.keep_set("lions", ["cats6"], under="beasts").items == "documents"
        assert index.keep_set("bread", ["grain1"], group="kinds").items == "documents"
        assert index.keep_set(" beasts ", ["cats5"]).items == "documents"
        assert index.keep_set("words", ["lion"], group="others").items == "terms"


@pytest.mark.long
def test_what_joins_a_second_pass_is_chosen_beside_the_rivals():
    """In so many documents some join; what is known of sets is that of now, whatever changed."""
    with make() as index:
        index.add([(f"{topic}{n}", vague(topic, n)) for topic in TOPICS for n in range(16)])
        for topic in TOPICS:
            index.keep_set(topic, [f"{topic}{n}" for n in range(3)], items="documents", group="kinds")
        alone = {name: {hit.item: hit.score for hit in index.set(name).expand(100)} for name in TOPICS}
        index.group("kinds", exclusive=True)
        names = sorted(TOPICS)
        compare(index, names)
        differ = 0
        for name in names:
            hits = index.set(name).expand(100, explain=True)
            for hit in hits:
                taken = sum(part.weight for part in hit.features if part.feature.startswith("fits "))
                differ += hit.score - taken != pytest.approx(alone[name][hit.item], abs=1e-9)
        assert differ, "others join than those of the set alone"
        changed = index.set("cats")
        changed.accept("cats5")
        changed.reject("grain4", "music7")
        changed.save()
        compare(index, names)
        put(index, "kinds", *names[:-1])
        own = index.set("music")
        own.accept(*[f"music{n}" for n in range(3, 8)])
        own.save()
        compare(index, names)
        own = index.set("sea")
        own.under = "grain"
        own.save()
        compare(index, names, {"sea": "grain"})
        own = index.set("cats")
        own.group = ""
        own.save()
        compare(index, ["grain", "music", "sea"], {"sea": "grain"})
        index.delete_set("music")
        compare(index, ["grain", "sea"], {"sea": "grain"})


@examples(60)
@given(st.data())
def test_any_groups_of_any_sets(data):
    with pytest.MonkeyPatch.context() as small:
        small.setattr(together, "MOST_BYTES", data.draw(st.sampled_from([0, 1 << 10, together.MOST_BYTES])))
        compare_any(data)


def compare_any(data):
    """Compare any sets with the definition."""
    words = st.lists(st.sampled_from("lion tiger cat wheat rye field sea".split()), min_size=1, max_size=6)
    documents = [(f"d{n}", " ".join(own)) for n, own in enumerate(data.draw(st.lists(words, min_size=5, max_size=12)))]
    names = [name for name, _ in documents]
    number = data.draw(st.integers(2, 4))
    owners = data.draw(st.lists(st.integers(0, number), min_size=len(names), max_size=len(names)))
    placed = {f"s{n}": [name for name, own in zip(names, owners, strict=True) if own == n] for n in range(number)}
    placed = {name: own for name, own in placed.items() if own}
    order = data.draw(st.permutations(sorted(placed)))
    rivals = [name for name in order if data.draw(st.booleans())]
    under = {}
    for one, other in zip(sorted(placed), sorted(placed)[1:], strict=False):
        if data.draw(st.integers(0, 3)) == 0:
            under[other] = one
    with make() as index:
        index.add(documents)
        for name in order:
            rejected = data.draw(st.lists(st.sampled_from(names), max_size=1))
            index.keep_set(name, placed[name], [own for own in rejected if own not in placed[name]], "documents")
        for name in order:
            own = index.set(name)
            own.group, own.under = "g" if name in rivals else None, under.get(name)
            own.save()
        if rivals:
            index.group("g", exclusive=True)
        try:
            [index.set(name).expand(1, cut="mark") for name in order]
        except errors.NothingToRank:
            pass
        except errors.QueryError:
            return
        compare(index, rivals, under)


def test_what_is_held_of_sets_is_bounded(monkeypatch):
    """Thirty sets of a group; their scores of all items would take as much as `all_scores`."""
    monkeypatch.setattr(together, "MOST_BYTES", 0)
    count, n = 30, 3000
    all_scores = 8 * count * n
    with make() as index:
        draw = random.Random(1)
        index.add([(f"d{i}", f"k{i % 50} {' '.join(draw.choices('abcdefgh', k=6))}") for i in range(n)])
        reading = index.items("documents")
        marks = {f"s{i}": ((f"d{i}", f"d{i + 50}"), ()) for i in range(count)}
        groups = Groups(dict.fromkeys(marks, "g"), frozenset("g"), {})

        def ask(fields_by):
            """What is held of sets, in bytes, and a row."""
            several = Several(reading, fields_by, marks, groups)
            together.Together(several)  # what the index keeps is there now
            tracemalloc.start()
            asked = together.Together(several)
            not_of_core = [tracemalloc.Filter(False, "*/core/question.py")]  # which keeps room for the next question
            held = tracemalloc.take_snapshot().filter_traces(not_of_core).statistics("filename")
            tracemalloc.stop()
            return sum(own.size for own in held), asked.row("s7")

        held, row = reading.answer(reading.plan(1, {}), ask)
        assert len(row.scores) == n and held < all_scores / 2


def test_words_and_relations_have_groups_too():
    draw = random.Random(5)
    with setsearch.open(sqlite3.connect(":memory:"), contexts="on") as index:
        for n in range(20):
            cats = " . ".join(f"the {draw.choice(['lion', 'tiger', 'puma'])} hunts deer" for _ in range(6))
            grain = " . ".join(f"we grow {draw.choice(['wheat', 'rye', 'oats'])} in the field" for _ in range(6))
            index.add([(f"d{n}", f"{cats} . {grain}")])
        index.refresh("now")
        index.keep_set("hunters", ["lion", "tiger"], items="terms", group="kinds")
        index.keep_set("grain", ["wheat", "rye"], items="terms", group="kinds")
        index.group("kinds", exclusive=True)
        for name, word in (("hunters", "puma"), ("grain", "oats")):
            hits = {hit.item: hit for hit in index.set(name).expand(100, cut="mark")}
            assert hits[word].belongs
            for claim in index.sets_of(word, items="terms"):
                own = next(hit for hit in index.set(claim.set).expand(100, cut="mark") if hit.item == word)
                assert (claim.score, claim.belongs) == (own.score, own.belongs)


def test_a_set_that_is_asked_again_has_the_vectors_of_now():
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        names = [name for name, _ in texts(range(10))]
        index.add(texts(range(10)))
        for topic in ("cats", "grain"):
            index.keep_set(topic, [f"{topic}0", f"{topic}1"], items="documents", group="kinds")
        index.group("kinds", exclusive=True)
        own, scores = index.set("cats"), []
        for seed in (1, 2, 3):
            rng = random.Random(seed)
            index.add_vectors(names[: 30 // seed], [[rng.gauss(0, 1) for _ in range(8)] for _ in names[: 30 // seed]])
            scores.append([(hit.item, hit.score) for hit in own.expand(20)])
            assert scores[-1] == [(hit.item, hit.score) for hit in index.set("cats").expand(20)]
        assert scores[0] != scores[1] != scores[2]


def test_errors(index):
    cats, grain = index.set("cats"), index.set("grain")
    with pytest.raises(errors.UnknownSet, match="no set is in a group 'kinds' \\(there is none yet\\)"):
        index.group("kinds", exclusive=True)
    put(index, "kinds", "cats", "grain", exclusive=True)
    for name in ("nobody", "\ud800", "a\0b"):  # a terminal may give bytes that are no UTF-8
        with pytest.raises(errors.UnknownSet, match=r"^no set .*, of which 'new' would be a part; save that first$"):
            index.keep_set("new", ["cats0"], items="documents", under=name)
    again = index.set("cats")
    again.group = "others"
    with pytest.raises(errors.InvalidParameter, match="the set 'cats' is in the group 'kinds' already; take it out"):
        again.save()
    assert index.set("cats").group == "kinds", "nothing has changed"
    for name, whole in (("cats", "cats"), ("sea", "grain")):
        own = index.set(name)
        own.under = whole
        if name == whole:
            with pytest.raises(errors.InvalidParameter, match="'cats' cannot lie within 'cats', which is itself"):
                own.save()
        else:
            own.save()
    grain = index.set("grain")
    grain.under = "sea"
    with pytest.raises(errors.InvalidParameter, match="'grain' cannot lie within 'sea', which is itself, or a part"):
        grain.save()
    grain.under = "none"
    with pytest.raises(errors.UnknownSet, match="no set 'none', of which 'grain' would be a part"):
        grain.save()
    cats = index.set("cats")
    cats.accept("grain1")
    with pytest.raises(errors.InvalidParameter, match="'grain1' is in 'cats' and 'grain', which exclude one another"):
        cats.save()
    assert "grain1" not in index.set("cats").accepted
    index.keep_set("words", ["lion"], items="terms")
    words = index.set("words")
    words.group = "kinds"
    with pytest.raises(errors.InvalidParameter, match="'words' is of terms, 'cats' of documents; they cannot be"):
        words.save()
    index.keep_set("same", ["cats1", "sea5"], items="documents", group="new")
    index.keep_set("again", ["cats1"], items="documents", group="new")
    with pytest.raises(errors.InvalidParameter, match="'cats1' is in 'again' and 'same', which exclude one another"):
        index.group("new", exclusive=True)
    assert not index.group("new").exclusive
    index.keep_set("cats", ["cats7", "cats8"], items="documents")
    assert index.set("cats").group == "kinds", "replacing a set leaves it where it is"
    index.keep_set("cats", ["cats7", "cats8"], items="documents", group="")
    assert index.set("cats").group is None
    assert index.check() == []


def test_the_commands(tmp_path, run, failed):
    with make(tmp_path / "a.db") as index:
        fill(index)
        index.add([("both", " ".join(TOPICS["cats"][:6] + TOPICS["grain"][:5]))])
    assert run("set", "list", "a.db", "--csv")[1].splitlines()[0] == "set,items,accepted,rejected"
    for name in ("cats", "grain"):
        assert run("set", "save", "a.db", name, "--group", "kinds")[0] == 0
    code, out, err = run("set", "group", "a.db", "kinds", "--exclusive", "--csv")
    assert (code, err) == (0, "the group kinds is exclusive\n")
    assert out.splitlines() == ["set,items,accepted,rejected", "cats,documents,3,1", "grain,documents,3,0"]
    with setsearch.open(tmp_path / "a.db") as index:
        hits = index.set("grain").expand(20, cut="mark")
    rows = json.loads(run("expand", "a.db", "--set", "grain", "-k", "20", "--json")[1])
    assert [(row["item"], row["score"]) for row in rows] == [(hit.item, hit.score) for hit in hits]
    claims = json.loads(run("set", "of", "a.db", "both", "--json")[1])
    assert [(claim["set"], claim["belongs"], claim["better"]) for claim in claims] == [
        ("cats", True, None),
        ("grain", False, "cats"),
    ]
    assert run("set", "save", "a.db", "lions", "cats4", "--items", "documents", "--under", "cats")[0] == 0
    assert "lions,documents,1,0,,cats" in run("set", "list", "a.db", "--csv")[1]
    assert run("set", "group", "a.db", "kinds", "--no-exclusive")[2] == "the group kinds is not exclusive\n"
    assert run("set", "save", "a.db", "lions", "--under", "")[0] == 0
    for name in ("cats", "grain"):
        assert run("set", "save", "a.db", name, "--group", "")[0] == 0
    failed(run("set", "group", "a.db", "kinds"), 1, "no set is in a group 'kinds'")
    failed(run("set", "save", "a.db", "cats"), 2, "no items: give ITEM..., or --group or --under")
    failed(run("set", "save", "a.db", "cats", "--under", "cats"), 2, "'cats' cannot lie within 'cats'")
    failed(run("set", "save", "a.db", "nobody", "--group", "kinds"), 1, "no set 'nobody'")
    failed(run("set", "save", "a.db", "lynxes", "cats4", "--under", "felines"), 1, "no set 'felines'")
    failed(run("set", "save", "a.db", "lynxes", "cats4", "--items", "documents", "--under", "lynxes"), 2, "is itself")


@examples(60)
@given(st.data())
def test_the_best_rivals_of_many_groups_are_those_of_each(data):
    count, n = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    names = [f"s{place}" for place in range(count)]
    of = {name: data.draw(st.sampled_from("abc")) for name in names if data.draw(st.booleans())}
    under = {name: data.draw(st.sampled_from(names[:place])) for place, name in enumerate(names) if place % 3 == 2}
    groups = Groups(of, frozenset("ab"), under)
    values = st.sampled_from([-float("inf"), 0.0, 0.5, 1.0, 2.0])
    heights = np.array(data.draw(st.lists(st.lists(values, min_size=n, max_size=n), min_size=count, max_size=count)))
    best, who = Rivalry.of(groups, dict.fromkeys(names, Weighed(1, 0, 0, True, 0, 1))).best(heights)
    beside = {}
    for group in "ab":
        beside[group] = Highest(n, groups.rivals_of_kin(group, names))
        for name in groups.within(group):
            beside[group].add(names.index(name), heights[names.index(name)])
    for place, name in enumerate(names):
        rivals = [names.index(other) for other in groups.rivals(name)]
        told = [own.tolist() for own in beside[of[name]].best(place)] if of.get(name) in beside else None
        assert told in (None, [best[place].tolist(), who[place].tolist()])
        for column in range(n):
            wanted = max((heights[other, column] for other in rivals), default=-float("inf"))
            first = next((other for other in rivals if heights[other, column] == wanted > -float("inf")), -1)
            assert (best[place, column], who[place, column]) == (wanted, first)
