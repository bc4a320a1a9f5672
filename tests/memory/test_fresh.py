"""An index that is written to: every answer names its revisions, and equals that of a fresh index of these."""

import random
import sqlite3
import threading
import time
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from patience import patience
from processes import in_fresh_process
from samples import delete_arrays, random_data

import setsearch
from setsearch import errors
from setsearch.memory import content, readings
from setsearch.sqlite import forks
from setsearch.sqlite.mapped import map_arrays
from setsearch.storage import generations, revisions
from setsearch.storage.relation import load_relations

WORDS = "apple pear plum lion tiger wolf red green blue the of and eats sees big small".split()
LISTS = ("by_item", "by_feature")


def text(rng):
    return " ".join(rng.choice(WORDS) + rng.choice(["", "", ",", " and", "."]) for _ in range(rng.randint(3, 20)))


def texts(seed, n):
    rng = random.Random(seed)
    return {f"d{number:02}": text(rng) for number in range(n)}


def fresh_answers(held, **options):
    """The answers of a new index in memory."""
    connection = sqlite3.connect(":memory:")
    with setsearch.open(connection, **options) as index:
        index.add(held.items())
        found = answers(index, sorted(held))
    connection.close()
    return found


def answers(index, names, fresh=None):
    documents, terms = index.items("documents"), index.items("terms")
    seeds, words = names[:2], WORDS[:2]
    return [
        *(documents.expand(seeds, 99, model=model, explain=True) for model in ("lift", "bernoulli", "multinomial")),
        documents.expand(seeds, 99, binarize="presence", popularity=1.0),
        terms.expand(words, 99, by="documents", explain=True),
        terms.expand(words, 99, fresh=fresh, explain=True),
    ]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
def test_after_any_writes_a_process_that_stays_answers_as_a_new_index(tmp_path, monkeypatch, seed):
    """Adds, updates, deletes, replacements, merges and openings, small slices, little room."""
    monkeypatch.setattr(generations, "SLICE", 8)
    monkeypatch.setattr("setsearch.lists.ROOM", 0)
    monkeypatch.setattr("setsearch.lists.LEAST_ROOM", 8)
    monkeypatch.setattr(content, "ALWAYS_FEW", 3)
    rng, held = random.Random(seed), texts(seed, 12)
    stays = setsearch.open(tmp_path / "a.db", create=True, contexts="on")
    stays.add(held.items())
    answers(stays, sorted(held))
    for step in range(12):
        with setsearch.open(tmp_path / "a.db") as other:
            writer = rng.choice([stays, other])
            kind = rng.choice(["add", "update", "update", "delete", "replace", "refresh"])
            if kind == "add":
                new = {f"n{step}{n}": text(rng) for n in range(rng.randint(1, 5))}
                writer.add(new.items())
                held |= new
            elif kind == "update":
                new = {name: text(rng) for name in rng.sample(sorted(held), 2)} | {f"u{step}": text(rng)}
                writer.update(new.items())
                held |= new
            elif kind == "delete" and len(held) > 6:
                gone = rng.sample(sorted(held), rng.randint(1, 3))
                writer.delete(gone)
                held = {name: own for name, own in held.items() if name not in gone}
            elif kind == "replace" and step % 4 == 0:
                held = texts(100 * seed + step, 10)
                writer.replace(held.items())
            else:
                writer.refresh("now")
            expected = fresh_answers(held, contexts="on")
            for index in (stays, other):
                found = answers(index, sorted(held), fresh="now")
                assert found == expected, (step, kind)
                assert all(hits.revision == index.info()["revision"] for hits in found)
    assert stays.check() == []
    stays.close()


@pytest.mark.long
def test_every_answer_is_that_of_the_revisions_that_it_names(tmp_path):
    """Two threads write and derive while four ask."""
    states, path = {1: texts(0, 12)}, tmp_path / "a.db"
    index = setsearch.open(path, create=True, contexts="on")
    index.add(states[1].items())
    index.refresh("now")
    wrong, asked, derived, is_over = [], set(), [], threading.Event()
    kept = [
        ("documents", ["d00", "d01"], {}),
        ("terms", ["apple", "lion"], {}),
        ("terms", ["red"], {"by": "documents"}),
    ]
    seen = []

    def ask(number):
        with setsearch.open(path) as own:
            while not is_over.is_set():
                which = (number + len(seen)) % len(kept)
                items, seeds, options = kept[which]
                hits = own.items(items).expand(seeds, 99, **options)
                seen.append((which, hits.revision, hits.contexts_revision, list(hits)))

    def derive():
        with setsearch.open(path) as own:
            while not is_over.is_set():
                own.refresh("now")
                derived.append(True)
                time.sleep(0.02)

    def wait(events, more):
        """Until so many have ended; one more than work at it, and one of them began after this."""
        deadline, so_many = time.monotonic() + patience(60), len(events) + more
        while len(events) < so_many and time.monotonic() < deadline:
            time.sleep(0.005)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)] + [threading.Thread(target=derive)]
    for thread in threads:
        thread.start()
    rng, held = random.Random(3), dict(states[1])
    for revision in range(2, 14):
        held[f"d{rng.randrange(2, 12):02}"] = text(rng)
        states[revision] = dict(held)
        index.update(held.items())
        wait(seen, 5)
        wait(derived, 2 * (revision % 4 == 0))
    is_over.set()
    for thread in threads:
        thread.join()
    index.close()
    expected = {}
    for revision, state in states.items():
        with setsearch.open(sqlite3.connect(":memory:"), contexts="on") as fresh:
            fresh.add(state.items())
            for which, (items, seeds, options) in enumerate(kept):
                expected[which, revision] = list(fresh.items(items).expand(seeds, 99, **options))
    for which, revision, contexts_revision, hits in seen:
        asked.add((revision, contexts_revision))
        if hits != expected[which, revision if contexts_revision is None else contexts_revision]:
            wrong.append((which, revision, contexts_revision))
    assert wrong == []
    assert len({revision for revision, _ in asked}) > 3
    assert len({contexts for _, contexts in asked if contexts}) > 1


def test_a_question_writes_nothing_and_waits_for_no_writer(tmp_path):
    path, held = tmp_path / "a.db", texts(1, 12)
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(held.items())
        before = index.items("terms").expand(["apple"])
        index.items("documents").expand(["d00"])
        index.update([("new", "apple pear and plum")])
        writer = sqlite3.connect(path, isolation_level=None)
        (changes,) = writer.execute("pragma data_version").fetchone()
        writer.execute("begin immediate")
        hits = index.items("terms").expand(["apple"])
        assert (hits, hits.revision, hits.contexts_revision) == (before, 2, 1)
        assert "new" in [hit.item for hit in index.items("documents").expand(["d00"], 99)]
        writer.execute("rollback")
        assert writer.execute("pragma data_version").fetchone() == (changes,)
        writer.close()


@pytest.mark.parametrize("what", ["setsearch_array", "setsearch_generation", "setsearch_revision", "files"])
def test_what_is_derived_may_go_under_a_running_process(tmp_path, monkeypatch, what):
    monkeypatch.setattr(generations, "SLICE", 8)
    held = texts(2, 12)
    expected = fresh_answers(held, contexts="on")
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
        index.refresh("now")
    with setsearch.open(tmp_path / "a.db") as index:
        index.items("terms").expand(["apple"])
        index.items("documents").expand(["d05"])  # has read some slices
        if what == "files":
            delete_arrays(tmp_path / "a.db")
        else:
            with index._database.write() as cursor:
                cursor.execute(f"delete from {what}")
        assert answers(index, sorted(held)) == expected
        index.update([("d00", held["d00"])])
        assert answers(index, sorted(held), fresh="now") == expected
        index.refresh("now")
        assert index.check() == []


def test_copies_that_went_two_ways_are_told_apart(tmp_path):
    """As many writes in both; one process sees one after the other at the same place."""
    path, copy, held = tmp_path / "a.db", tmp_path / "b.db", texts(3, 12)
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(held.items())
        index.refresh("now")
    host = sqlite3.connect(path)
    host.execute("pragma journal_mode = delete")
    host.close()
    copy.write_bytes(path.read_bytes())
    ways = []
    for place, word in ((path, "apple"), (copy, "tiger")):
        with setsearch.open(place) as index:
            for n in range(3):
                index.update([(f"d{n:02}", f"{word} {word} wolf red")])
            ways.append(held | {f"d{n:02}": f"{word} {word} wolf red" for n in range(3)})
        host = sqlite3.connect(place)
        host.execute("pragma journal_mode = delete")
        host.close()
    expected = [fresh_answers(way, contexts="on") for way in ways]
    with setsearch.open(path) as index:
        assert answers(index, sorted(held), fresh="now") == expected[0]
        first = path.read_bytes()
        copy.replace(path)
        assert answers(index, sorted(held), fresh="now") == expected[1]
        (tmp_path / "c.db").write_bytes(first)
        (tmp_path / "c.db").replace(path)
        assert answers(index, sorted(held), fresh="now") == expected[0]


def test_a_deriver_that_lost_its_lock_does_not_publish(tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(4, 6).items())
        database = index._database
        sleeper = generations.Draft.begin(database, 1)
        assert generations.Draft.begin(database, 1) is None, "one at a time"
        sleeper.write([("x", np.arange(10))])
        start = time.time()
        monkeypatch.setattr(generations.time, "time", lambda: start + 2 * generations.AT_WORK)
        successor = generations.Draft.begin(database, 1)
        assert successor is not None, "its time is over"
        for step in (
            sleeper.renew,
            lambda: sleeper.write([("y", np.arange(3))]),
            lambda: sleeper.publish(revisions.Revision(1, 1, 1)),
        ):
            with pytest.raises(errors.LockedDatabase, match="took over"):
                step()
        successor.write([("x", np.arange(5))])
        published = successor.publish(revisions.Revision(1, 1, 7))
        with database.read() as cursor:
            assert generations.find_generation(load_relations(cursor)[0]) == published
            assert published.within(cursor).array("x").tolist() == [*range(5)]
            held = {id for (id,) in cursor.execute("select distinct generation from setsearch_array")}
            assert held == {published.id}, "what the sleeper wrote is gone"


@pytest.mark.parametrize("number", ["999999999", str(1 << 70), "9" * 5000])
def test_a_deriver_that_is_dead_is_succeeded_at_once(tmp_path, number):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(4, 6).items())
        dead = generations.Draft.begin(index._database, 1)
        with index._database.write() as cursor:
            cursor.execute("update setsearch_generation set owner = ?", (f"{forks._host()} {number}",))
        assert generations.Draft.begin(index._database, 1) is not None
        with pytest.raises(errors.LockedDatabase):
            dead.publish(revisions.Revision(1, 1, 1))


@pytest.mark.parametrize(("back", "is_at_work"), [(0.5, True), (generations.AT_WORK - 5, True), (86_400, False)])
def test_a_clock_that_is_set_back_a_little_lets_nobody_take_over(tmp_path, monkeypatch, back, is_at_work):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(4, 6).items())
        at_work = generations.Draft.begin(index._database, 1)
        start = time.time()
        monkeypatch.setattr(generations.time, "time", lambda: start - back)
        assert (generations.Draft.begin(index._database, 1) is None) == is_at_work
        at_work.abandon()


def test_a_deriver_begins_if_what_is_left_of_others_cannot_go(tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(4, 6).items())
    with (
        closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as writer,
        setsearch.open(tmp_path / "a.db", timeout=0) as index,
    ):
        delete, begin = generations._delete_orphans, partial(writer.execute, "begin immediate")
        monkeypatch.setattr(generations, "_delete_orphans", lambda own: begin() and delete(own))
        draft = generations.Draft.begin(index._database, 1)
        writer.execute("rollback")
        draft.renew()


def test_a_copied_row_of_a_deriver_makes_nobody_wait(tmp_path):
    path, copy = tmp_path / "a.db", tmp_path / "b.db"
    with setsearch.open(path, create=True) as index:
        index.add(texts(4, 6).items())
        at_work = generations.Draft.begin(index._database, 1)
        assert generations.Draft.begin(index._database, 1) is None
        with sqlite3.connect(copy) as into, sqlite3.connect(path) as source:
            source.backup(into)
        at_work.publish(revisions.Revision(1, 1, 1))
    with setsearch.open(copy) as index:
        assert generations.Draft.begin(index._database, 1) is not None, "this process writes no such draft now"


@pytest.mark.long
@pytest.mark.parametrize("asks_between", [False, True])
def test_a_reader_stays_across_merges(tmp_path, monkeypatch, asks_between):
    """Two generations of lists and contexts come and go; it has parts of the first, whose rows are gone."""
    monkeypatch.setattr(generations, "SLICE", 8)
    held, rng = texts(8, 40), random.Random(8)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
        index.refresh("now")
        stays = setsearch.open(tmp_path / "a.db")
        assert stays.items("documents").expand(["d00"], 3) == index.items("documents").expand(["d00"], 3)
        seen = set()
        for _ in range(2):
            changed = {name: text(rng) for name in rng.sample(sorted(held), 20)}
            held |= changed
            index.replace(held.items())
            index.refresh("now")
            with index._database.read() as cursor:
                rows = cursor.execute("select distinct generation from setsearch_array").fetchall()
                published = cursor.execute("select id from setsearch_generation where published").fetchall()
                assert sorted(rows) == sorted(published), "no orphan stays"
                assert seen.isdisjoint(rows)
                seen.update(rows)
            if asks_between:
                assert answers(stays, sorted(held)) == fresh_answers(held, contexts="on")
        assert answers(stays, sorted(held)) == fresh_answers(held, contexts="on")
        stays.close()


@pytest.mark.parametrize("told", ["many", "65", "-1", ""])
def test_a_wrong_number_of_threads_is_said(tmp_path, monkeypatch, told):
    monkeypatch.setenv("SETSEARCH_THREADS", told)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(texts(1, 6).items())
        with pytest.raises(errors.InvalidParameter, match="SETSEARCH_THREADS is a number of threads"):
            index.items("terms").expand(["apple"])
        monkeypatch.setenv("SETSEARCH_THREADS", "1")
        assert index.items("terms").expand(["apple"])


def test_without_threads_the_one_that_asks_derives(tmp_path, monkeypatch):
    monkeypatch.setenv("SETSEARCH_THREADS", "0")
    monkeypatch.setattr(threading.Thread, "start", None)
    held = texts(2, 12)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
        alone = answers(index, sorted(held))
    monkeypatch.undo()
    assert alone == fresh_answers(held, contexts="on")


def test_writes_that_nobody_merged_cost_a_bounded_history(tmp_path, monkeypatch):
    monkeypatch.setattr(revisions, "MOST_REVISIONS", 8)
    held = texts(5, 12)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
        index.refresh("now")
        idle = setsearch.open(tmp_path / "a.db")
        answers(idle, sorted(held))
        rng = random.Random(5)
        for _ in range(20):
            name = rng.choice(sorted(held))
            held[name] = text(rng)
            index.update([(name, held[name])])
        with index._database.read() as cursor:
            assert cursor.execute("select count(*) from setsearch_revision").fetchone() == (8,)
        expected = fresh_answers(held, contexts="on")
        assert answers(idle, sorted(held), fresh="now") == expected
        idle.close()
        with setsearch.open(tmp_path / "a.db") as new:
            assert answers(new, sorted(held)) == expected


def test_a_host_sees_its_own_writes_and_others_do_not(tmp_path):
    path, held = tmp_path / "a.db", texts(6, 12)
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add(held.items())
        index.refresh("now")
        before = answers(index, sorted(held))
        host = sqlite3.connect(path, isolation_level=None)
        lent = setsearch.open(host)
        host.execute("begin")
        lent.update([("d00", "apple apple wolf")])
        inside = answers(lent, sorted(held))
        assert inside[0] == fresh_answers(held | {"d00": "apple apple wolf"}, contexts="on")[0]
        assert lent.items("terms").expand(WORDS[:2], 99, fresh="now").contexts_revision == 2
        host.execute("savepoint here")
        lent.update([("d01", "plum plum wolf")])
        assert answers(lent, sorted(held))[0] != inside[0]
        host.execute("rollback to here")
        assert answers(lent, sorted(held))[0] == inside[0]
        assert answers(index, sorted(held)) == before
        host.execute("rollback")
        assert answers(lent, sorted(held)) == before
        assert [hits.contexts_revision for hits in answers(index, sorted(held))][-1] == 1
        host.close()


def test_words_that_are_gone_or_new(tmp_path):
    held = texts(7, 12)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
        terms = index.items("terms")
        before = terms.expand(["apple"], 99, explain=True)
        index.update([(name, own.replace("apple", "cherry")) for name, own in held.items()])
        assert terms.expand(["apple"], 99, explain=True) == before, "the contexts still know it"
        assert terms.expand(["apple"]).contexts_revision == 1
        assert terms.expand(["cherry"]).contexts_revision is None, "by documents"
        assert terms.words_without_contexts(["cherry"]) == ["cherry"]
        assert terms.expand(["cherry"], fresh="now").contexts_revision == 2
        with pytest.raises(errors.UnknownItem):
            terms.expand(["apple"])


@pytest.mark.parametrize("fresh", ["soon", "-1", -1, "5 percent", True, float("nan"), "", "inf", [1]])
def test_freshness_that_is_none(tmp_path, fresh):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(8, 6).items())
        with pytest.raises(errors.InvalidParameter, match="fresh is 'now'"):
            index.items("terms").expand(["apple"], fresh=fresh)
        with pytest.raises(errors.InvalidParameter, match="fresh is 'now'"):
            index.refresh(fresh)


def test_what_may_be_missing(tmp_path, monkeypatch):
    held = texts(9, 20)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
        terms = index.items("terms")
        assert terms.expand(["apple"]).contexts_revision == 1
        index.update([("d00", "apple pear"), ("d01", "plum")])
        assert terms.expand(["apple"], fresh="10%").contexts_revision == 1
        assert terms.expand(["apple"], fresh=60).contexts_revision == 1
        assert terms.expand(["apple"], fresh="9.9%").contexts_revision == 2
        index.delete(["d05"])
        now = time.time()
        monkeypatch.setattr("setsearch.storage.revisions.time.time", lambda: now + 61)
        assert terms.expand(["apple"], fresh=3600).contexts_revision == 2
        assert terms.expand(["apple"], fresh="60").contexts_revision == 3


@pytest.mark.long
def test_three_processes_need_contexts_and_one_derives(tmp_path):
    import multiprocessing

    held = texts(10, 400)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(held.items())
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.map(_ask, [str(tmp_path / "a.db")] * 3)
    assert found[0] == found[1] == found[2]
    host = sqlite3.connect(tmp_path / "a.db")
    assert host.execute("select count(*) from setsearch_generation where name = 'contexts'").fetchone() == (1,)
    host.close()


def _ask(path):
    with setsearch.open(path) as index:
        return index.items("terms").expand(["apple", "lion"], 20)


def test_norms_do_not_depend_on_the_order_of_writes(tmp_path):
    data = random_data(11, 60, 40, 0.3)
    found = []
    for number, names in enumerate((sorted(data), sorted(data, reverse=True))):
        with setsearch.open(tmp_path / f"{number}.db", create=True) as index:
            index.add([(name, data[name]) for name in names], ("film", "user"))
            with index.items("film").stored() as fields:
                statistics = fields.first.statistics(index.items("film").defaults.make({}).rule)
                ids = fields.items.find(sorted(data))
                found.append([float(statistics.norms[ids[name]]) for name in sorted(data)])
    assert found[0] == found[1]


def circle(words):
    """Twelve texts of neighboring words."""
    return [(f"d{n}", " ".join(words[(n + place) % len(words)] for place in range(4))) for n in range(12)]


@pytest.mark.parametrize("how", ["rolled back", "dropped", "replaced"])
def test_contexts_of_a_transaction_of_the_host_are_not_those_of_other_texts(tmp_path, how):
    """They are in memory only, which the connections to a file share."""
    animals, colors = "dog cat horse cow pig".split(), "red green blue cyan pink".split()
    host, other = (sqlite3.connect(tmp_path / "a.db", isolation_level=None) for _ in range(2))
    index = setsearch.open(host, contexts="on")
    index.add(circle(animals))
    host.execute("begin")
    index.update(circle(colors))
    assert index.items("terms").expand(["red"], 1)[0].item in colors
    if how == "rolled back":
        host.execute("rollback")
    elif how == "dropped":
        index.drop()
        index.add(circle(animals))
        host.execute("commit")
    else:
        index.replace(circle(animals))
        host.execute("commit")
    for connection in (host, other):
        terms = setsearch.open(connection, contexts="on").items("terms")
        hits = terms.expand(["dog"])
        assert {hit.item for hit in hits} == {*animals} - {"dog"}
        assert hits.contexts_revision == hits.revision
        with pytest.raises(errors.UnknownItem):
            terms.expand(["red"])
    host.close()
    other.close()


def test_who_loses_the_right_to_derive_twice_answers_by_the_last_contexts(tmp_path, monkeypatch):
    """A process that slept for too long finds its draft gone; a job that must derive says so."""
    from setsearch.memory.contexts import derivation

    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(texts(4, 12).items())
        index.refresh("now")
        index.update([("d00", "apple plum lion")])
        times, derive = [], derivation._derive

        def sleep_and_derive(*given):
            """Another process takes over meanwhile, the first `len(times)` times."""
            if times:
                times.pop()
                with index._database.write() as cursor:
                    cursor.execute("delete from setsearch_generation where not published")
            return derive(*given)

        monkeypatch.setattr(derivation, "_derive", sleep_and_derive)
        times[:] = [1, 2]
        hits = index.items("terms").expand(["lion"], fresh="now")
        assert not times and (hits.contexts_revision, hits.revision) == (1, 2)
        times[:] = [1, 2]
        with pytest.raises(errors.TakenOver):
            index.refresh("now")
        times[:] = [1]
        hits = index.items("terms").expand(["lion"], fresh="now")
        assert not times and (hits.contexts_revision, hits.revision) == (2, 2)


def test_refresh_by_itself_derives_nothing_and_says_when_it_is_time(tmp_path):
    app = sqlite3.connect(tmp_path / "a.db")
    app.execute("create table notes (id integer primary key, body text)")
    app.executemany(
        "insert into notes (body) values (?)",
        [(f"{body} zebra yak" if n < 20 else body,) for n, body in enumerate(texts(3, 120).values())],
    )
    app.commit()

    def derived():
        lists = map_arrays(tmp_path / "a.db", tmp_path / "a.db-arrays-lists-1")
        contexts = app.execute("select name, revision from setsearch_generation").fetchall()
        return contexts + ([("lists", lists.state[1])] if lists is not None else [])

    with setsearch.open(app, contexts="words") as index:
        index.add_table("notes", setsearch.Columns(text="body"), track=True)
        assert index.refresh() == setsearch.Changes() and index.refresh().behind and derived() == []
        app.commit()
        assert not index.refresh("now").behind
        app.commit()
        known = derived()
        assert [name for name, _ in known] == ["contexts", "lists"] and not index.refresh().behind
        for changed, behind in ((1, False), (100, False), (101, True)):
            app.execute("update notes set body = body || ' pear' where id <= ?", (changed,))
            changes = index.refresh()
            assert changes == setsearch.Changes(changed, 0) and changes.behind == behind
            app.commit()
        hits = index.items("terms").expand(["zebra"])
        assert derived() == known and hits.contexts_revision == 1 < hits.revision
        index.refresh("now")
        app.commit()
        assert not index.refresh().behind and index.items("terms").expand(["zebra"]).contexts_revision == hits.revision
    app.close()


def test_only_who_needs_contexts_waits_for_them(tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(texts(1, 30).items())
        index.refresh("now")
    begun, may_end, found = threading.Event(), threading.Event(), []
    read = readings.read_contexts

    def read_slowly(*given):
        begun.set()
        assert may_end.wait(patience(30))
        return read(*given)

    monkeypatch.setattr(readings, "read_contexts", read_slowly)
    with setsearch.open(tmp_path / "a.db") as index:

        def ask(items, seed):
            found.append((items, index.items(items).expand([seed])))

        of_words = [threading.Thread(target=ask, args=("terms", "lion")) for _ in range(2)]
        try:
            of_words[0].start()
            assert begun.wait(patience(30))
            of_words[1].start()
            of_documents = threading.Thread(target=ask, args=("documents", "d00"))
            of_documents.start()
            of_documents.join(patience(30))
            assert [items for items, _ in found] == ["documents"]
        finally:
            may_end.set()
            for thread in of_words:
                thread.join()
    assert [items for items, _ in found] == ["documents", "terms", "terms"]
    assert found[1] == found[2]


def _derive(path):
    with setsearch.open(path) as index:
        index.refresh("now")


def test_forms_of_stems_that_another_process_derives_are_shown_at_once(tmp_path):
    """Words are asked for by documents, so that nobody reads the contexts that are new."""
    for contexts in ("off", "on"):
        path = tmp_path / f"{contexts}.db"
        with setsearch.open(path, create=True, language="english", contexts=contexts) as index:
            index.add([(f"a{number}", "running horses") for number in range(4)])
            reading = index.items("terms")
            assert [hit.item for hit in reading.expand(["horses"], by="documents")] == ["running"]
            index.add([(f"b{number}", "run horse") for number in range(9)])
            assert [hit.item for hit in reading.expand(["horses"], by="documents")] == ["running"], "of before"
            in_fresh_process(_derive, path)
            assert [hit.item for hit in reading.expand(["horses"], by="documents")] == ["run"], contexts
            assert reading.expand(["horses"], by="documents") == reading.expand(["horse"], by="documents")
