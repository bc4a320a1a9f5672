"""What can be stored, told of many names at once."""

from hypothesis import given
from hypothesis import strategies as st
from laws import examples

from setsearch.indexing.rows.cells import cell_id, cell_text
from setsearch.storage.ids import are_storable, is_storable


class OtherText(str):
    """A text of another class, such as those of numpy, which takes the long way."""


texts = st.text(st.sampled_from(["a", "é", "\0", "\ud83d", "\ude00", "\n", " "]), max_size=3)


@examples(200)
@given(st.lists(texts, max_size=4))
def test_many_names_are_storable_if_each_one_is(names: list[str]) -> None:
    assert are_storable(names) == all(map(is_storable, names))


@examples(200)
@given(texts)
def test_the_short_way_of_a_plain_text_is_the_long_one(text: str) -> None:
    assert cell_text("", "a", text) == cell_text("", "a", OtherText(text))
    if is_storable(text):
        assert cell_id("", "a", text) == cell_id("", "a", OtherText(text))
