"""XML that says nearly all in attributes, as dumps of Stack Exchange and backups of messages do.

What its first element holds are documents, such as each <row Title="..." Body="...">. Settings of programs, and
drawings, are such XML too, but have no attribute with a sentence.
"""

import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from setsearch.indexing.formats.part import Part
from setsearch.indexing.references.xml import AT_ONCE, refuse_entities, without_controls
from setsearch.text.headline import headline, shorten

STYLES = ("style", "font-family", "class", "rend")
TITLES = ("title", "subject", "name", "displayname")
# What is not of XML, but comes: halves of characters, controls, entities of HTML, and an & by itself.
_entity = re.compile(
    r"&#(?:0*(?:5[5-7]\d{3}|6553[45]|[0-8]|1[124-9]|2\d|3[01])"
    r"|[xX]0*(?:[dD][89a-fA-F][\da-fA-F]{2}|[fF]{3}[eEfF]|[0-8bBcCeEfF]|1[\da-fA-F]));"
    r"|&(?!(?:amp|lt|gt|quot|apos|#\d+|#[xX][\da-fA-F]+);)(?:\w+;)?"
)
_word = re.compile(r"[^\W\d_]{2}")
_sentence = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]+[^\w\s]*\s+){3}[^\W\d_]")


def is_sentence(name: str, value: str) -> bool:
    """Whether an attribute has a sentence, which is no list of the words of a style."""
    return name not in STYLES and _sentence.search(value) is not None


def of_attributes(source: str, plain: Callable[[str], str], is_text: bool = False) -> Iterator[Part]:
    """The documents of a text, which is parsed as XML; `plain` takes tags out of them. Raises ValueError.

    `is_text`: it is known to be one.
    """
    waiting = list[Part]()
    for number, element in enumerate(_elements(source), 1):
        is_text = is_text or any(is_sentence(*said) for own in element.iter() for said in own.attrib.items())
        said = (value for own in element.iter() for value in (*own.attrib.values(), own.text or "", own.tail or ""))
        text = "\n".join(plain(value.strip()) for value in said if _word.search(value))
        known = {name.lower(): value for name, value in element.attrib.items()}
        title = shorten(next(filter(None, map(known.get, TITLES)), None)) or headline(text)
        if text:
            waiting.append(Part(text, title, known.get("id") or str(number), columns=dict(element.attrib)))
        if is_text:
            yield from waiting
            waiting.clear()


def _character(entity: re.Match[str]) -> str:
    return escape(unescape(entity[0])).replace("\ufffd", " ")


def _elements(source: str) -> Iterator[Element]:
    """What the first element holds, one after another; what was read before is let go."""
    refuse_entities(source)
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    text, open_elements = without_controls(_entity.sub(_character, source)).lstrip(), list[Element]()
    try:
        for start in range(0, len(text), AT_ONCE):
            parser.feed(text[start : start + AT_ONCE])
            for event, element in map(tuple, parser.read_events()):
                if event == "start":
                    open_elements.append(element)
                    continue
                open_elements.pop()
                if len(open_elements) == 1:
                    yield element
                    open_elements[0].clear()
        parser.close()
    except ParseError as error:
        raise ValueError(f"broken XML ({error})") from error
