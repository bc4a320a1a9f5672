"""Sets that know each other: what a group gives, and what growth without a person keeps of its promise.

    python benchmarks/sets.py DATA

DATA as for relevance.py; classes that overlap are left out. Beside it families of the glosses of sample_corpus, among
all glosses and among few. Draws of three and ten seeds of all classes of a collection. MAP beside the rivals over MAP
of each set alone, by rules of which the first is the product's; what the rivals have is left out of the candidates in
both. The errors after growing to 33 members, in a group that is exclusive and in one that is not. Of both, what the
group gives over each set alone, with bootstrap intervals over sets, of each collection and of the mean of COLLECTIONS.
Growth with the promised share .9: how much is right, in how many draws that is kept, and how much of the classes is
found, with constants that were fitted on the other collections. A tenth of the documents comes after sets of ten were
saved: how much of what the inbox claims is right, in all and until half is found, and how much is found. Writes
results/sets.json. With `--times 1000` only the time that a thousand sets take is measured.
"""

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rejections import how, opened, titled_texts
from scipy.optimize import minimize
from scipy.special import logsumexp

import setsearch
from setsearch.answers.saved.groups import Groups
from setsearch.answers.saved.growth import chances, rounds
from setsearch.answers.saved.rivals import Rivalry
from setsearch.answers.saved.standing import Several
from setsearch.answers.saved.together import Together
from setsearch.index import Index

RESULTS = Path(__file__).parent / "results" / "sets.json"
CORPUS = Path(__file__).parent.parent / "sample_corpus" / "wordnet.jsonl"
COLLECTIONS = {
    **{"MED": "med/sets.json", "countries": "factbook/sets.json", "entries": "wordnet_entries/sets.json"},
    **{"CACM": "cacm/sets.json", "Cranfield": "cranfield/sets.json"},
}
GLOSSES = {"glosses": None, "few glosses": 500}  # how many beside the families
FAMILIES, SMALLEST, LARGEST = 30, 15, 150
WORDS = {"words": "words/gcide.jsonl.gz"}
MEMBERS, IN_A_GROUP = 13, 20  # of the sets whose time is measured
LEAST, SEEDS, DRAWS, MOST_IN_TWO = 12, (3, 10), 5, 0.1
PROMISED = 0.9
RESAMPLES, INTERVAL = 2000, (0.025, 0.975)  # of a bootstrap
SHARES = (0.5, 0.25, 0.75, 1)  # of the height of the best rival that are subtracted
PRODUCT = f"minus {SHARES[0]} of the height"
Classes = Mapping[str, list[str]]


def classes_of(reading: Any, sets: Classes) -> Classes:
    """Classes of at least LEAST known items, with at most a tenth in common; those of words that are not of queries."""
    with reading.fields() as fields:
        kept = {
            name: sorted({str(item) for item in own if fields.knows(str(item))})
            for name, own in sets.items()
            if not name.startswith("case/")
        }
    chosen: dict[str, list[str]] = {}
    for name in sorted(kept, key=lambda name: (-len(kept[name]), name)):
        own = {*kept[name]}
        if len(own) >= LEAST and all(
            len(own & {*other}) <= MOST_IN_TWO * min(len(own), len(other)) for other in chosen.values()
        ):
            chosen[name] = kept[name]
    return chosen


@contextmanager
def glosses(among: int | None) -> Iterator[tuple[Index, Any, Classes]]:
    """Glosses of WordNet without their words, and families: what is a kind of something, at any distance."""
    texts, kinds, families = {}, dict[str, list[str]](), dict[str, list[str]]()
    for row in map(json.loads, CORPUS.open()):
        texts[row["id"]] = row["text"].split("\n", 1)[0].split(": ", 1)[-1]
        for found in re.findall(r"(?m)^A kind of: (.*)\.$", row["text"]):
            for kind in found.split(", "):
                kinds.setdefault(kind, []).append(row["id"])
    used, names = set[str](), sorted(kinds)
    random.Random(0).shuffle(names)
    for name in names:
        own, left = set[str](), [name]
        while left:
            new = {*kinds.get(left.pop(), ())} - own
            own, left = own | new, left + sorted(new)
        if SMALLEST <= len(own) <= LARGEST and not used & own and len(families) < FAMILIES:
            families[name], used = sorted(own), used | own
    rest = sorted(texts.keys() - used)
    kept = used.union(rest if among is None else random.Random(1).sample(rest, among))
    with TemporaryDirectory() as place, setsearch.open(f"{place}/a.db", create=True, **how(Path("sets.json"))) as index:
        index.add([(name, text) for name, text in texts.items() if name in kept])
        yield index, index.items("documents"), families


def draws(classes: Classes, count: int) -> Iterator[Classes]:
    """Seeds of all classes, those of one in no other."""
    for draw in range(DRAWS):
        rng, taken, seeds = random.Random(draw), set[str](), {}
        for name, own in sorted(classes.items()):
            free = [item for item in own if item not in taken]
            seeds[name] = rng.sample(free, min(count, len(own) // 2))
            taken |= {*seeds[name]}
        yield seeds


def precision(ranked: Any, truth: Any) -> float:
    hits = truth[ranked]
    places = np.flatnonzero(hits) + 1
    return float((np.arange(1, len(places) + 1) / places).mean()) if len(places) else 0.0


class Sets:
    """Classes that were asked together, `(n_sets, n_ids)`."""

    def __init__(self, several: Several) -> None:
        together = Together(several)
        self.names = [*together.heads]
        rows = [together.row(name) for name in self.names]
        self.scores, self.heights = np.array([row.scores for row in rows]), np.array([row.heights for row in rows])
        self.members = np.array([row.members for row in rows])
        weighed = {name: own.weighed for name, own in together.heads.items()}
        self.rivalry = Rivalry.of(several.groups, weighed)


def rules(together: Sets) -> dict[str, Any]:
    """Rankings of all items for all sets, `(n_sets, n_ids)`."""
    scores = np.where(
        np.isfinite(together.scores), together.scores, together.scores[np.isfinite(together.scores)].min()
    )
    heights = np.where(np.isfinite(together.heights), together.heights, -9.0)
    rivalry = together.rivalry
    z = (scores - scores.mean(1, keepdims=True)) / scores.std(1, keepdims=True)
    best, best_z = rivalry.best(heights)[0], rivalry.best(z)[0]
    found: dict[str, Any] = {f"minus {share} of the height": heights - share * np.maximum(best, 0) for share in SHARES}
    found |= {f"z minus {share} of the best z": z - share * best_z for share in (0.25, 0.5, 0.75)}
    found["softmax of scores"] = scores - np.logaddexp(logsumexp(scores, 0), 0)
    found["softmax of scores, t .3"] = 0.3 * scores - np.logaddexp(logsumexp(0.3 * scores, 0), 0)
    found["softmax of 2 z"] = 2 * z - np.logaddexp(logsumexp(2 * z, 0), np.log(len(scores)))
    return found


def together_of(reading: Any, seeds: Classes, no: Classes | None = None, exclusive: bool = True) -> Sets:
    """The classes of some seeds, in one group."""
    marks = {name: (tuple(own), tuple((no or {}).get(name, ()))) for name, own in seeds.items()}
    groups = Groups(dict.fromkeys(marks, "g"), frozenset(["g"] * exclusive), {})
    found: Sets = reading.answer(
        reading.plan(1, {}), lambda fields_by: Sets(Several(reading, fields_by, marks, groups))
    )
    return found


def resampled(name: str, by_set: Any) -> Any:
    """A measure in the group and alone, of all sets of a collection, then of as many drawn among them, again and again.

    `by_set`: what a set adds to both, and its weight, `(n_sets, 3)`. Returns `(1 + RESAMPLES, 2)`.
    """
    drawn = np.random.default_rng([*name.encode()]).integers(0, len(by_set), (RESAMPLES, len(by_set)))
    sums = by_set[np.vstack([np.arange(len(by_set)), drawn])].sum(axis=1)
    return sums[:, :2] / sums[:, 2:]


def over_alone(by_set: Mapping[str, Any]) -> dict[str, float]:
    """The mean of a measure over collections, in the group and alone, and their ratio with its interval over sets."""
    in_group, alone = np.mean([resampled(name, own) for name, own in by_set.items()], axis=0).T
    ratio = in_group / alone
    low, high = np.quantile(ratio[1:], INTERVAL).tolist()
    found = {"in a group": in_group[0], "alone": alone[0], "ratio": ratio[0], "low": low, "high": high}
    return {name: float(own) for name, own in found.items()}


def ranking(reading: Any, classes: Classes) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """MAP by number of seeds and rule; and what `resampled` takes, of the product's rule."""
    found: dict[str, dict[str, float]] = {}
    by_set: dict[str, Any] = {}
    with reading.fields() as fields:
        ids = {name: fields.resolve_all(own) for name, own in classes.items()}
    for count in SEEDS:
        sums: dict[str, list[float]] = {}
        for seeds in draws(classes, count):
            together = together_of(reading, seeds)
            others = {name: [i for o, own in seeds.items() if o != name for i in own] for name in seeds}
            negative = together_of(reading, seeds, others).scores
            all_seeds = together.members.any(0)
            alone = together_of(reading, seeds, exclusive=False).scores
            ranked = {
                "alone": alone,
                **rules(together),
                "others rejected": np.where(np.isfinite(negative), negative, -9e9),
            }
            for rule, values in ranked.items():
                for place, name in enumerate(together.names):
                    truth = np.zeros(values.shape[1], bool)
                    truth[ids[name]] = True
                    order = np.argsort(-np.where(all_seeds, -np.inf, values[place]), kind="stable")
                    sums.setdefault(rule, []).append(precision(order, truth & ~all_seeds))
        found[str(count)] = {rule: float(np.mean(own)) for rule, own in sums.items()}
        in_group, alone = (np.reshape(sums[rule], (DRAWS, -1)).mean(0) for rule in (PRODUCT, "alone"))
        by_set[f"MAP, {count} seeds"] = np.column_stack([in_group, alone, np.ones(len(alone))])
    return found, by_set


def keep(index: Index, reading: Any, seeds: Classes, exclusive: bool) -> None:
    """Save the seeds as the only sets, in one group."""
    for name in index.sets():
        index.delete_set(name)
    for name, own in seeds.items():
        index.keep_set(name, own, items=reading.name, group="g")
    index.group("g", exclusive=exclusive)


def grown(index: Index, reading: Any, classes: Classes, seeds: Classes, exclusive: bool, **how: Any) -> list[Any]:
    """What joins, as (Grown, whether it is right)."""
    keep(index, reading, seeds, exclusive)
    return [(own, own.item in classes[own.set]) for own in index.grow(group="g", **how)]


def unbraked(index: Index, reading: Any, classes: Classes) -> tuple[Any, Any]:
    """The errors after growing three seeds by 30 members without a brake, as `resampled` takes them; and (v, v0,
    ln u0 / n, right) of what joined them, and ten seeds, of as much weight.

    Of seeds that share little, which do not grow, there are no errors.
    """
    tell = rounds._told
    rows: dict[int, list[tuple[float, float, float, bool]]] = {count: [] for count in SEEDS}

    def noting(found: list[Any]) -> Any:
        def note(grows: Any, ids: Any, number: int) -> Iterator[Any]:
            v, v0 = chances.beside(grows.now), chances.beside(grows.first)
            odds = chances.unit_for_each(grows.first)
            for own in tell(grows, ids, number):
                with reading.fields() as fields:
                    id = fields.resolve(own.item)
                found.append((v[id], v0[id], odds, own.item in classes[own.set]))
                yield own

        return note

    def right_of(seeds: Classes, exclusive: bool) -> dict[str, int]:
        """How many right ones join each set that grows."""
        right: dict[str, int] = {}
        for own, is_right in grown(index, reading, classes, seeds, exclusive, rounds=6, each=5, precision=1e-6):
            right[own.set] = right.get(own.set, 0) + is_right
        return right

    errors = np.zeros((len(classes), 3))  # in the group, alone, of so many
    for count, noted in rows.items():
        for seeds in draws(classes, count):
            rounds._told = noting(noted)
            right = right_of(seeds, True)
            rounds._told = tell
            if count == SEEDS[0]:
                alone = right_of(seeds, False)
                for place, (name, own) in enumerate(classes.items()):
                    if name in right and name in alone:
                        wanted = min(30, len(own) - len(seeds[name]))
                        errors[place] += wanted - right[name], wanted - alone[name], wanted
    weighted = [np.column_stack([own, np.full(len(own), 1 / len(own))]) for own in rows.values()]
    return errors, np.vstack(weighted)


def fitted(samples: Mapping[str, Any]) -> tuple[float, float, float]:
    """The constants of chances.CHANCE, each collection with the same weight, glosses as one."""
    of_glosses = sum(name in GLOSSES for name in samples)
    weight = np.concatenate(
        [own[:, 4] / (of_glosses if name in GLOSSES else 1) for name, own in samples.items() if name not in WORDS]
    )
    rows = np.vstack([own for name, own in samples.items() if name not in WORDS])
    sign, x = 2 * rows[:, 3] - 1, np.column_stack([np.ones(len(rows)), rows[:, :2].clip(-3, 3)])

    def loss(b: Any) -> float:
        return float((weight * np.logaddexp(0, -sign * (x @ b + rows[:, 2]))).sum() + 0.001 * (b[1:] ** 2).sum())

    first, second, third = (round(float(own), 2) for own in minimize(loss, np.zeros(3)).x)
    return first, second, third


def looked_at(index: Index, classes: Classes, joined: list[Any]) -> list[Any]:
    """What joins once somebody has rejected what is wrong, and accepted the rest."""
    for name in classes:
        own = index.set(name)
        own.reject(*[row.item for row, is_right in joined if row.set == name and not is_right])
        own.save()
    more = index.grow(group="g", rounds=20, each=5, precision=PROMISED, accept=True)
    return [(own, own.item in classes[own.set]) for own in more]


def promised(
    index: Index, reading: Any, classes: Classes, chance: tuple[float, float, float], count: int
) -> dict[str, Any]:
    """Growth of so many seeds with a share of .9 and some constants: at once, and after a look at the first two rounds.

    Then the share is that of all that stays in the sets, and it is a promise.
    """
    kept, chances.CHANCE = chances.CHANCE, chance
    found: dict[str, Any] = {"constants": chance}
    for way, last in (("at once", 20), ("after a look", 2)):
        right, joined, found_of = [], [], []
        for seeds in draws(classes, count):
            rows = first = grown(index, reading, classes, seeds, True, rounds=last, each=5, precision=PROMISED)
            if way != "at once":
                rows = looked_at(index, classes, first)
            wanted = sum(len(own) - len(seeds[name]) for name, own in classes.items())
            of_first = 0 if rows is first else sum(is_right for _, is_right in first)
            right.append(sum(is_right for _, is_right in rows) + of_first)
            joined.append(len(rows) + of_first)
            found_of.append(right[-1] / wanted)
        found[way] = {
            "right": sum(right) / max(sum(joined), 1),
            "draws that keep it": float(np.mean([a >= PROMISED * b for a, b in zip(right, joined, strict=True)])),
            "found": float(np.mean(found_of)),
            "joined": float(np.mean(joined)),
        }
    chances.CHANCE = kept
    return found


def claims(path: Path, exclusive: bool) -> dict[str, float]:
    """What the inbox claims, as shares: right; found of what came; right among the first rows of each set, until half
    of what came is found.
    """
    rows, counts = [*titled_texts(path)], Counter[str]()
    with opened(path) as (index, reading, sets):
        classes = classes_of(reading, sets)
        for draw in range(DRAWS):
            later = random.Random(draw).sample(rows, len(rows) // 10)
            came = {name for name, _ in later}
            before = {name: [item for item in own if item not in came] for name, own in classes.items()}
            seeds = next(islice(draws(before, max(SEEDS)), draw, None))
            index.delete([*came])
            keep(index, reading, seeds, exclusive)
            index.add(later)
            claimed: dict[str, list[bool]] = {name: [] for name in classes}
            for row in index.inbox():
                claimed[row.set].append(row.item in classes[row.set])
            for name, own in claimed.items():
                wanted = len(came.intersection(classes[name]))
                found = np.cumsum(own).tolist()
                read = next((place for place, right in enumerate(found, 1) if 2 * right >= wanted), len(own))
                counts.update(rows=len(own), right=sum(own), wanted=wanted, read=read, right_read=sum(own[:read]))
    return {
        "right": counts["right"] / counts["rows"],
        "found": counts["right"] / counts["wanted"],
        "right until half is found": counts["right_read"] / counts["read"],
    }


def save_many(index: Index, reading: Any, count: int) -> list[str]:
    """Save sets of MEMBERS documents that are near to one another, in exclusive groups; returns all documents."""
    rng, rows, taken = random.Random(0), list[dict[str, Any]](), set[str]()
    with reading.fields() as fields:
        items = sorted(name for name, _ in fields.describe(fields.item_ids().tolist()).values())
    near = {item: [hit.item for hit in reading.expand([item], 5 * MEMBERS)] for item in rng.sample(items, 500)}
    for number in range(count):
        taken = taken if number % IN_A_GROUP else set()
        free = [[item for item in own if item not in taken] for own in near.values()]
        members = rng.sample(rng.choice([own for own in free if len(own) >= MEMBERS]), MEMBERS)
        taken |= {*members}
        group = {"group": f"g{number // IN_A_GROUP}", "exclusive": "yes"}
        rows.append({"name": f"s{number}", "accepted": members, **group})
    index.import_sets(rows, reading.name)
    return items


def times(path: Path, count: int) -> dict[str, float]:
    """Seconds of CPU of so many sets: the sets of one item (a median), and the inbox after a write of ten items."""

    def timed(ask: Any) -> float:
        begin = time.process_time()
        ask()
        return time.process_time() - begin

    with opened(path) as (index, reading, _):
        items = save_many(index, reading, count)
        first = timed(lambda: index.sets_of(items[0], items=reading.name))
        of_items = [timed(lambda item=item: index.sets_of(item, items=reading.name)) for item in items[1:62]]
        index.update([(item, f"new {number}") for number, item in enumerate(items[:10])])
        found = {"the first item": first, "an item": float(np.median(of_items[1:]))}
        found |= {"the inbox after a write": timed(index.inbox), "a second look": timed(index.inbox)}
        changed = index.set("s0")
        changed.reject(next(item for item in items if item not in changed.accepted))
        changed.save()
        return found | {"after one set changed": timed(index.inbox)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--times", type=int, metavar="N", help="measure only the time that N sets take")
    data, count = (arguments := parser.parse_args()).data, arguments.times
    if count:
        print(json.dumps(times(data / COLLECTIONS["entries"], count)))
        return
    results: dict[str, Any] = {"collections": {}, "over alone": {}}
    samples, by_set = dict[str, Any](), dict[str, dict[str, Any]]()
    paths = {name: data / path for name, path in (COLLECTIONS | WORDS).items() if (data / path).exists()}

    def collection(name: str) -> Any:
        return glosses(GLOSSES[name]) if name in GLOSSES else opened(paths[name])

    names = [*paths, *GLOSSES]
    for name in names:
        with collection(name) as (index, reading, sets):
            classes = classes_of(reading, sets)
            rules_of, by_set[name] = ranking(reading, classes)
            by_set[name]["errors of 30"], samples[name] = unbraked(index, reading, classes)
        told = {row: over_alone({name: own}) for row, own in by_set[name].items()}
        results["collections"][name] = own = {"classes": len(classes), "MAP": rules_of, "over alone": told}
        print(name, json.dumps(own), flush=True)
    documents = [name for name in COLLECTIONS if name in by_set]
    for row in by_set[names[0]]:
        results["over alone"][row] = over_alone({name: by_set[name][row] for name in documents})
    print("over alone", json.dumps(results["over alone"]), flush=True)
    for name in documents:
        own = {way: claims(paths[name], way == "exclusive") for way in ("not exclusive", "exclusive")}
        results["collections"][name]["inbox"] = own
        print(name, json.dumps(own), flush=True)
    for name in names:
        kin = GLOSSES if name in GLOSSES else [name]
        chance = fitted({other: rows for other, rows in samples.items() if other not in kin})
        with collection(name) as (index, reading, sets):
            classes = classes_of(reading, sets)
            own = {str(count): promised(index, reading, classes, chance, count) for count in SEEDS}
        results["collections"][name]["promised"] = own
        print(name, json.dumps(own), flush=True)
    results["constants"] = fitted(samples)
    print("constants of all", results["constants"])
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
