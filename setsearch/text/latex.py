"""LaTeX as people read it, by pylatexenc: letters in place of accents, text in place of commands."""

import re
from functools import cache
from itertools import islice
from typing import Any

_bare = re.compile(r"(?<!\\)([%&#])")
_braces = re.compile(r"[{}]")
_placeholders = re.compile(r"<(?:cit\.|ref|ref>\)?|i n f i n i t e|\s?g r a p h i c s\s?)>|< g r a p h i c s >")
# Commands whose arguments are text, and signs, beside those that the library has.
_IN_WORDS = "texttt textsc textrm textsf mbox fbox hbox textsuperscript textsubscript".split()
_NO_TEXT = "label ref eqref pageref cite citep citet nocite documentclass usepackage input include".split()
_NO_TEXT += "includegraphics vspace hspace setlength newcommand renewcommand pagestyle".split()
_HEADINGS = "part chapter section subsection subsubsection paragraph subparagraph".split()
_SIGNS = {
    "textless": "<",
    "textgreater": ">",
    "today": "",
    "textbar": "|",
    "textquotesingle": "'",
    "textasciicircum": "^",
    "TeX": "TeX",
    "LaTeX": "LaTeX",
}
_aside = re.compile(r"\\(?:(?:href|hyperlink|hypertarget)\s*\{[^{}]*\}|footnote)\s*\{")  # of a link, the text
# What is read of what stands before a document: its title page.
_shown_before = re.compile(
    r"\\(?:(?:sub)?title|author|date|institute|affil(?:iation)?|address|keywords|abstract)\s*(?:\[[^\[\]]*\]\s*)?\{"
)
MOST_SHOWN = 100  # commands of a title page
_comment = re.compile(r"(?<!\\)%.*")
_lone = re.compile(r"(?<!\\)\\(?!\\)")
_doubled = re.compile(r"\\\\(?:[\"'`^~=.][{\\A-Za-z]|(?:text\w+|emph|[uvHcdbkrt])\s*\{)")
# Where one may end and the next begin: no group that is a letter of a word, as in gr{\"o}{\ss}er.
_arguments = re.compile(r"\}\{(?!\\(?:[\"'`^~=.]|(?:ss|ae|oe|aa|AE|OE|AA|[oOlLijuvHcdbkrt])\b))")
_title = re.compile(r"\\(?:title|chapter\*?|section\*?)\s*(?:\[[^\[\]]*\]\s*)?\{")
_hidden = re.compile(
    r"\\(?:thanks\s*\{[^{}]*\}|maketitle|tableofcontents|bibliography\s*\{[^{}]*\}|(?:bibliographystyle|bibitem|index)\s*\{[^{}]*\})"
)


def latex_text(source: str) -> str:
    """A short text, as the field of a reference: % and & stand for themselves. Raises ImportError."""
    if "\\" not in source and "$" not in source:
        return " ".join(_braces.sub("", source).split())
    if _doubled.search(source) and not _lone.search(source):  # a program has escaped it once more
        source = source.replace("\\\\", "\\")
    return " ".join(_converted(_bare.sub(r"\\\1", source)).split())


def latex_document(source: str) -> tuple[str, str | None]:
    """The text of a document, and its title. Raises ImportError."""
    begin = _title.search(source)
    title = latex_text(_hidden.sub("", _group(source, begin.end()))) if begin else None
    before, is_whole, within = source.partition("\\begin{document}")
    if is_whole:
        before = _comment.sub("", before)
        shown = (_group(before, own.end()) for own in islice(_shown_before.finditer(before), MOST_SHOWN))
        source = "\n\n".join((*shown, within))
    body = _hidden.sub("", source.partition("\\end{document}")[0])
    body = _arguments.sub("} {", body)  # the library does not know how many others' commands have
    lines = (" ".join(line.split()) for line in _converted(body).splitlines())
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.strip("=") for line in lines)).strip()
    return (text if not title or title.lower() in text.lower() else f"{title}\n\n{text}"), title


def _converted(source: str) -> str:
    """The text of a source; a broken one keeps its words."""
    try:
        return _placeholders.sub("", _converter().latex_to_text(_aside.sub(" {", source)))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # the library's own, on bad input
        return re.sub(r"\\[A-Za-z]+\*?", " ", _braces.sub("", source))


@cache
def _converter() -> Any:
    import logging

    from pylatexenc.latex2text import (
        EnvironmentTextSpec,
        LatexNodes2Text,
        MacroTextSpec,
        get_default_latex_context_db,
    )

    logging.getLogger("pylatexenc").addHandler(logging.NullHandler())

    def verbatim(node: Any, l2tobj: Any) -> str:
        """What stands between the marks."""
        return str(getattr(node.nodeargd, "verbatim_text", ""))

    def inside(node: Any, l2tobj: Any) -> str:
        """The arguments of a command within a word."""
        found = getattr(node.nodeargd, "argnlist", None) or ()
        return " ".join(l2tobj.nodelist_to_text([own]) for own in found if own is not None)

    def heading(node: Any, l2tobj: Any) -> str:
        """A line as it was typed; the library writes capitals."""
        return f"\n\n{l2tobj.nodelist_to_text(node.nodeargd.argnlist[-1:])}\n"

    def apart(node: Any, l2tobj: Any) -> str:
        """The arguments of a command that stands for itself, or that the library does not know: their words stay."""
        return f" {inside(node, l2tobj)} "

    macros = [MacroTextSpec(name, simplify_repl=inside) for name in _IN_WORDS]
    macros += [MacroTextSpec(name, simplify_repl=text) for name, text in _SIGNS.items()]
    macros += [MacroTextSpec(name, simplify_repl="") for name in _NO_TEXT]
    macros += [MacroTextSpec(name, simplify_repl=heading) for name in _HEADINGS]
    macros.append(MacroTextSpec("verb", simplify_repl=verbatim))
    context = get_default_latex_context_db()
    environments = [EnvironmentTextSpec(name, simplify_repl=verbatim) for name in ("verbatim", "verbatim*")]
    environments.append(EnvironmentTextSpec("comment", simplify_repl="", discard=True))
    context.add_context_category("words", macros=macros, environments=environments, prepend=True)
    context.set_unknown_macro_spec(MacroTextSpec("", simplify_repl=apart))
    return LatexNodes2Text(context, math_mode="text", strict_latex_spaces=False, keep_braced_groups=False)


def _group(source: str, start: int) -> str:
    """What is before the brace that closes a group, whose inside begins at `start`."""
    depth = 1
    for place in range(start, len(source)):
        depth += {"{": 1, "}": -1}.get(source[place], 0)
        if not depth:
            return source[start:place]
    return source[start:].partition("\n")[0]
