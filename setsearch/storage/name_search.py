"""The names and titles of one kind of things that match what somebody types (text/matching.py tells how well)."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from setsearch.sqlite.database import Bound
from setsearch.storage.ids import is_storable
from setsearch.text.matching import (
    BREAK,
    LEAST_EDITED,
    LEAST_SWAPPED,
    SIMILAR,
    TRIGRAM,
    Match,
    NamePage,
    Row,
    anywhere,
    as_typed,
    as_wanted,
    best_matches,
    cases,
    edited,
    is_one_edit,
    like,
    likely,
    match,
    spellings,
    trigrams,
    without_parenthesis,
    words_of,
)

MOST_CANDIDATES = 20_000  # names that are compared with a text
MOST_SCANNED = 5_000_000  # names; of more, only beginnings are looked for
MOST_COUNTED = 200_000  # names whose trigrams are counted: that takes .5 us each
MOST_ALIKE = 200  # names with the most trigrams of a text
LONGEST_ALIKE = 14  # characters of a text whose trigrams count
NAMES_OF_PAGE = 50_000  # that are read as one text
LAST_CHARACTER = chr(0x10FFFF)  # sorts behind every other character
LONGEST_SEARCHED = 200  # characters of a text whose words are looked for
AMONG = "in (select value from json_each(?))"
_AMONG_SECOND = "in (select value from json_each(?2))"

Descriptions = dict[int, tuple[str, str | None]]  # (name, title) by id


class NameSearch(Bound):
    """The names of a kind, and how one is found that somebody types: `size` names, all ids below `next_id`.

    `others`: how those names begin that are features of fields, which nobody takes for words or people.
    """

    id: int
    size: int
    next_id: int
    others: tuple[str, ...]

    def search(self, text: str, enough: int) -> list[Match]:
        """Things whose name or title matches a text, the best first, with those of equal quality complete.

        If fewer than `enough` begin so, it looks for names one edit away, and for its words anywhere; if there are
        none, for names with words one edit from its words; if there are none, for similar names. What is like nothing
        is looked for without a parenthesis at its end.
        """
        found, plain = self._search(text, enough), without_parenthesis(text)
        return self._search(plain, enough) if plain and not found else found

    def _search(self, text: str, enough: int) -> list[Match]:
        if text and not is_storable(text):
            return []
        ids = {id for own in spellings(text) for id in self.starting_with(own, MOST_CANDIDATES)}
        if self.others:
            ids = {id for id, (name, _) in self.stored(sorted(ids)).items() if not name.startswith(self.others)}
        if text.strip() and self.size <= MOST_SCANNED and len(ids) < enough:
            ids.update(self.one_edit_away(text))
            ids.update(self.containing(text))
            if not ids:
                return self._nearly(text)
        return self._matches(text, ids)

    def _nearly(self, text: str) -> list[Match]:
        """Things with words one edit from those of a text, or else similar ones."""
        pages = self._pages(text) if self.size > MOST_COUNTED else [*self._pages(text)]  # then they are read once
        near = self._matches(text, self.with_near_words(text, pages))
        found = [one for one in near if one.quality < SIMILAR]
        return found or best_matches(match(text, *row) for row in likely(text, self._plain(self.alike(text, pages))))

    def _matches(self, text: str, ids: Iterable[int]) -> list[Match]:
        return best_matches(match(text, *row) for row in self._things(ids))

    def _things(self, ids: Iterable[int]) -> list[Row]:
        """Id, name and title of things as stored, without features of fields."""
        return self._plain(self.stored(sorted({*ids})))

    def _plain(self, stored: Descriptions) -> list[Row]:
        return [(id, name, title) for id, (name, title) in stored.items() if not name.startswith(self.others)]

    def starting_with(self, prefix: str, limit: int) -> list[int]:
        """Ids whose name or title begins with a text (case-sensitive)."""
        return [
            id
            for column in ("name", "title")
            for (id,) in self.cursor.execute(
                f"select id from setsearch_name where kind = ? and {column} >= ? and {column} < ? limit ?",
                (self.id, prefix, prefix + LAST_CHARACTER, limit),
            )
        ]

    def stored(self, ids: Sequence[int]) -> Descriptions:
        """(name, title) of each id as stored; damage is for `describe` to find."""
        rows = self.cursor.execute(
            f"select id, name, title from setsearch_name where kind = ? and id {AMONG}", (self.id, json.dumps([*ids]))
        )
        return {id: (name, title) for id, name, title in rows}

    def called(self, text: str) -> list[tuple[int, str]]:
        """(id, name) of up to five things with this name or title in any case, else with more in a parenthesis."""
        if not is_storable(text) or len(text) > LONGEST_SEARCHED:
            return []
        patterns = like(text), f"{like(text)} (%)"
        found: tuple[dict[int, str], dict[int, str]] = {}, {}
        for column in ("name", "title"):
            for prefix in cases(text[:2]):  # it looks at what begins with these letters only
                rows = self.cursor.execute(
                    f"select id, name, {column} from setsearch_name where kind = ? and {column} >= ? and {column} < ? "
                    f"and ({column} like ? escape '\\' or {column} like ? escape '\\')",
                    (self.id, prefix, prefix + LAST_CHARACTER, *patterns),
                )
                for id, name, own in rows:
                    for place, known in enumerate((own, own.partition(" (")[0])):
                        if known.casefold() == text.casefold():
                            found[place].setdefault(id, name)
        return sorted((found[0] or found[1]).items(), key=lambda one: one[1])[:5]

    def one_edit_away(self, text: str) -> list[int]:
        """Ids whose name or title is one edit from a text, in any case, or as it is but for accents."""
        if not LEAST_SWAPPED <= len(text) <= LONGEST_SEARCHED:
            return []
        patterns, wanted, ids = edited(text), as_wanted(text), list[int]()
        for column in ("name", "title"):
            likes = " or ".join([f"{column} like ? escape '\\'"] * len(patterns))
            rows = self.cursor.execute(
                f"select id, {column} from setsearch_name indexed by setsearch_name_{column} "
                f"where kind = ? and {column} is not null "
                f"and length({column}) between ? and ? and ({likes})",
                (self.id, len(text) - 1, len(text) + 1, *patterns),
            )
            ids += [id for id, own in rows if (plain := as_typed(wanted, own)) == wanted or is_one_edit(wanted, plain)]
        return ids

    def containing(self, text: str) -> list[int]:
        """Ids whose name or title has all words of a text, in any case."""
        conditions, patterns = [], list[str]()
        for word in text[:LONGEST_SEARCHED].split():
            own = [anywhere(spelling) for spelling in (spellings(word) if not word.isascii() else [word])]
            likes = " or ".join(f"{column} like ? escape '\\'" for _ in own for column in ("name", "title"))
            conditions.append(f"({likes})")
            patterns += [pattern for pattern in own for _ in range(2)]
        rows = self.cursor.execute(
            f"select id from setsearch_name where kind = ? and {' and '.join(conditions)} limit {MOST_CANDIDATES}",
            (self.id, *patterns),
        )
        return [id for (id,) in rows]

    def with_near_words(self, text: str, pages: Iterable[NamePage]) -> list[int]:
        """Ids whose name or title, in pages of all, has the longest word of a text, or a word one edit from it."""
        words, found = words_of(as_wanted(text[:LONGEST_SEARCHED])), set[str]()
        for page in pages if words and len(words[0]) >= LEAST_EDITED else ():
            found |= page.with_near_words(words[0])
            if len(found) > MOST_CANDIDATES:
                break
        return self._either(found)

    def _pages(self, text: str) -> Iterator[NamePage]:
        """All names and titles, for one who types a text: a page takes a third of the time of its rows."""
        for first in range(0, self.next_id, NAMES_OF_PAGE):
            (pages,) = self.cursor.execute(
                "select group_concat(name, ?), group_concat(title, ?) from setsearch_name "
                "where kind = ? and id between ? and ?",
                (BREAK, BREAK, self.id, first, first + NAMES_OF_PAGE - 1),
            )
            yield from (NamePage(text, page) for page in pages if page)

    def _either(self, names: Iterable[str]) -> list[int]:
        """The ids with these names or titles, ascending."""
        rows = self.cursor.execute(
            f"select id from setsearch_name where kind = ?1 and name {_AMONG_SECOND} union "
            f"select id from setsearch_name indexed by setsearch_name_title where kind = ?1 and title {_AMONG_SECOND}",
            (self.id, json.dumps([*names])),
        )
        return [id for (id,) in rows]

    def alike(self, text: str, pages: Iterable[NamePage]) -> Descriptions:
        """What shares many trigrams with a text, and what is about as long, first what begins with its first letter.

        Among many names, those of about its length that begin with its two letters.
        """
        wanted, is_large, first = as_wanted(text[:LONGEST_ALIKE]), self.size > MOST_COUNTED, text[:1]
        shared, least = Counter[str](), len(trigrams(wanted)) / 3
        for page in () if is_large or len(wanted) < TRIGRAM else pages:
            shared.update(page.trigrams(wanted))
        enough = (name for name, count in shared.items() if count >= least)
        found = self.stored(self._either(sorted(enough, key=lambda name: (-shared[name], name))[:MOST_ALIKE]))
        for column, begin in product(("name", "title"), cases(text[:2]) if is_large else [first]):
            of_length = (
                f"select id, name, title from setsearch_name where kind = ? and length({column}) between ? and ?"
            )
            given = self.id, len(text) * 2 // 3, len(text) * 3 // 2 + 1
            rows = self.cursor.execute(
                f"{of_length} and {column} >= ? and {column} < ? "
                f"order by substr({column}, 1, 1) <> ?, id limit {MOST_CANDIDATES}",
                (*given, begin, begin + LAST_CHARACTER, first),
            ).fetchall()
            if not is_large:  # in the order of ids there is nothing to sort
                others = f"{of_length} and substr({column}, 1, 1) <> ? order by id limit ?"
                rows += self.cursor.execute(others, (*given, first, MOST_CANDIDATES - len(rows)))
            found |= {id: (name, title) for id, name, title in rows}
        return found
