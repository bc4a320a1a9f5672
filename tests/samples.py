"""Texts and generated relations that several tests use."""

import random

import numpy as np
from oracle import transpose

import setsearch
from setsearch.core import binding
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.storage import forward_lists

TEXTS = [
    ("Lion", "the lion and the tiger are big cats"),
    ("Tiger", "the tiger and the lion are cats"),
    ("Leopard", "a leopard is a cat among cats"),
    ("Wheat", "wheat and barley grow"),
    ("Barley bread", "barley and oats grow"),
    ("New York", "a town"),
]


KERNELS = ["numpy"] + ["core"] * (binding.library() is not None)


def with_kernels(ask):
    """The answers of all kernels that are here."""
    answers = []
    for kernel in KERNELS:
        setsearch.use_kernel(kernel)
        answers.append(ask())
    setsearch.use_kernel(None)
    return answers


class NamesByRank:
    """The order of the names of items: an array of their positions in it."""

    def __init__(self, positions):
        self.positions = positions

    def ranks(self, ids):
        return self.positions[ids]

    def in_order(self):
        return np.argsort(self.positions).tolist()


def random_data(seed: int, items: int, features: int, density: float) -> dict[str, dict[str, int]]:
    """Random counts, with a feature of all items and an item without features among them."""
    rng = random.Random(seed)
    data = {
        f"i{item}": {
            f"f{f}": rng.choice((1, 1, 2, 5)) for f in range(features) if rng.random() < density * 2 / (1 + f % 4)
        }
        for item in range(items)
    }
    if seed % 2:
        for counts in data.values():
            counts["everywhere"] = rng.randint(1, 3)
    else:
        data["i0"] = {}
    return data


def random_questions(build, rng, case):
    """Both readings of random data, each with its rows and random seeds: (reading, rows, seeds)."""
    data = random_data(case, rng.randint(3, 40), rng.randint(2, 30), rng.random() * 0.6)
    index = build(data)
    for name, rows in (("film", data), ("user", transpose(data))):
        if len(rows) >= 3:
            yield index.items(name), rows, rng.sample(sorted(rows), rng.randint(1, min(4, len(rows) - 1)))


def planted(seed=0):
    """Three groups of items with features of their own, and noise."""
    rng = random.Random(seed)
    data, sets = {}, {}
    for group in "xyz":
        for number in range(12):
            own = {f"{group}{f}": rng.randint(1, 3) for f in range(8) if rng.random() < 0.5}
            data[f"{group}-{number:02}"] = own | {f"n{f}": 1 for f in range(20) if rng.random() < 0.2}
        sets[group] = [name for name in data if name.startswith(group)]
    return data, sets


def delete_arrays(path):
    """Delete the files of arrays beside a database."""
    for file in path.parent.glob(f"{path.name}-arrays-*"):
        file.unlink()


def change_blocks(connection, change):
    """Give blocks of lists other entries under right checksums, as somebody would who made the file.

    `change` takes the entries of one block, and returns those of one or more.
    """
    rows = connection.execute("select relation, first, data from setsearch_forward").fetchall()
    connection.execute("delete from setsearch_forward")
    for relation, first, data in rows:
        entries = forward_lists._decoded(strip_checksum(data, f"{relation} {first}"))
        for changed in change(entries):
            begin = int(changed.lists[0])
            made = add_checksum(forward_lists._encoded(changed), f"{relation} {begin}")
            connection.execute("insert into setsearch_forward values (?, ?, ?)", (relation, begin, made))
    connection.commit()
