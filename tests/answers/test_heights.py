"""The two best heights of each item, as all heights tell them."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import example, given
from laws import examples

from setsearch.answers.saved.heights import Highest, heights_of

some = st.lists(st.lists(st.sampled_from([-np.inf, 0.0, 1.0, 2.0]), min_size=2, max_size=2), min_size=1, max_size=5)


@examples(500)
@example([[2.0, 0.0], [1.0, 0.0], [1.0, -np.inf]], {})
@given(some, st.dictionaries(st.integers(0, 4), st.sets(st.integers(0, 4))))
def test_the_best_rival_is_the_first_of_the_highest(heights, kin):
    """Of all other sets, or of those that exclude one that has kin; places need not follow one another."""
    kin = {3 * place: {3 * other for other in others} for place, others in kin.items()}
    highest, rows = Highest(2, kin), {3 * place: row for place, row in enumerate(heights)}
    for place, row in rows.items():
        highest.add(place, np.array(row))
    for place in rows:
        rivals = [other for other in rows if other in kin.get(place, {*rows} - {place})]
        best, who = highest.best(place)
        for item in (0, 1):
            wanted = max((rows[other][item] for other in rivals), default=-np.inf)
            first = next((other for other in rivals if rows[other][item] == wanted > -np.inf), -1)
            assert (best[item], who[item]) == (wanted, first)


def test_a_set_in_which_all_items_score_the_same_has_no_heights():
    scores, floors, units = np.array([[3.0, 5.0], [3.0, 3.0], [1.0, 2.0]]), [1.0, 3.0, 1.0], [2.0, 0.0, np.nan]
    expected = [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    assert heights_of(scores, np.array(floors)[:, None], np.array(units)[:, None]).tolist() == expected
    assert [heights_of(*own).tolist() for own in zip(scores, floors, units, strict=True)] == expected
