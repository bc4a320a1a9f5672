"""Build wordnet.jsonl from WordNet 3.0, as Debian's package wordnet-base installs it.

    apt-get install wordnet-base
    python sample_corpus/build.py /usr/share/wordnet > sample_corpus/wordnet.jsonl

One entry for each noun of some domains (below): its names, its gloss, what it is a kind of, what kinds and parts it
has. The id is the first name; where entries share it, with what each is a kind of: "gin (liquor)", "gin (rummy)".
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# The first sense of each of these nouns, unless a number says which, with everything below it.
DOMAINS = """
    chemical_element metal gem:2 mineral rock disease musical_instrument bird fish insect reptile carnivore rodent
    ungulate primate:2 whale:2 dinosaur edible_fruit vegetable herb flower tree cheese pasta:2 beverage bread spice:2
    sauce country:2 city capital:3 river lake mountain island planet constellation monetary_unit language garment
    fabric footwear headdress weapon ship aircraft motor_vehicle furniture tool kitchen_utensil building dance:3 sport
    card_game board_game bone muscle internal_organ vitamin hormone medicine:2 drug_of_abuse color emotion
    plane_figure polygon deity mythical_being religion scientist composer painter philosopher writer president:2
    sovereign explorer inventor military_officer musician dog horse cat boat knot:2 poem musical_composition
""".split()


class Synset(NamedTuple):
    """A line of data.noun: names, pointers by kind, gloss."""

    names: list[str]
    pointers: list[tuple[str, int]]
    gloss: str

    def below(self, *kinds: str) -> list[int]:
        """The synsets that pointers of these kinds lead to."""
        return [offset for kind, offset in self.pointers if kind in kinds]


def read_synsets(path: Path) -> dict[int, Synset]:
    """All noun synsets by offset."""
    synsets = {}
    for line in path.read_text("latin-1").splitlines():
        if line.startswith("  "):
            continue
        data, _, gloss = line.partition(" | ")
        fields = data.split()
        count = int(fields[3], 16)
        names = [name.replace("_", " ") for name in fields[4 : 4 + 2 * count : 2]]
        rest = fields[5 + 2 * count :]
        pointers = [(rest[i], int(rest[i + 1])) for i in range(0, len(rest) - 3, 4) if rest[i + 2] == "n"]
        synsets[int(fields[0])] = Synset(names, pointers, gloss.strip())
    return synsets


def read_senses(path: Path) -> dict[str, list[int]]:
    """Noun -> its synsets, the most frequent sense first."""
    senses = {}
    for line in path.read_text("latin-1").splitlines():
        if not line.startswith("  "):
            fields = line.split()
            senses[fields[0]] = [int(offset) for offset in fields[-int(fields[2]) :]]
    return senses


def descend(synsets: dict[int, Synset], roots: list[int]) -> Iterator[int]:
    """Everything below some synsets, once each."""
    seen, todo = set(roots), list(roots)
    while todo:
        offset = todo.pop()
        yield offset
        below = [o for o in synsets[offset].below("~", "~i") if o not in seen]
        seen.update(below)
        todo.extend(below)


def entry_text(synsets: dict[int, Synset], synset: Synset) -> str:
    """The entry as a reader would want it."""
    lines = [f"{', '.join(synset.names)}: {synset.gloss}."]
    for label, kinds in (("A kind of", ("@", "@i")), ("Kinds", ("~", "~i")), ("Parts", ("%p", "%m"))):
        related = [synsets[offset].names[0] for offset in synset.below(*kinds)]
        if related:
            lines.append(f"{label}: {', '.join(related)}.")
    return "\n".join(lines)


def entry_ids(synsets: dict[int, Synset], chosen: list[int]) -> list[str]:
    """A unique id for each entry: its name, if need be with what it is a kind of, if need be with its number."""
    ids = [synsets[offset].names[0] for offset in chosen]
    for precise in (kind_of, number_of):
        used = Counter(ids)
        ids = [
            entry_id if used[entry_id] == 1 else f"{synsets[offset].names[0]} ({precise(synsets, offset)})"
            for offset, entry_id in zip(chosen, ids, strict=True)
        ]
    return ids


def kind_of(synsets: dict[int, Synset], offset: int) -> str:
    """The name of the first synset above."""
    above = synsets[offset].below("@", "@i")
    return synsets[above[0]].names[0] if above else str(offset)


def number_of(_: dict[int, Synset], offset: int) -> str:
    """The number of a synset in WordNet."""
    return str(offset)


def main(folder: Path) -> None:
    """Write the entries to stdout, in the order of their ids."""
    synsets, senses = read_synsets(folder / "data.noun"), read_senses(folder / "index.noun")
    roots = []
    for domain in DOMAINS:
        noun, _, number = domain.partition(":")
        roots.append(senses[noun][int(number or 1) - 1])
    chosen = sorted(set(descend(synsets, roots)))
    entries = []
    for offset, entry_id in zip(chosen, entry_ids(synsets, chosen), strict=True):
        synset = synsets[offset]
        entries.append({"id": entry_id, "title": synset.names[0], "text": entry_text(synsets, synset)})
    for entry in sorted(entries, key=lambda entry: entry["id"]):
        print(json.dumps(entry, ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
