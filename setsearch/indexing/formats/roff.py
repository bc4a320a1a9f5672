"""Manual pages, and reports (ms): what groff shows of the source, in a twentieth of its time, and where there is none.

Glyphs have their names of groff_char(7).
"""

import re
from collections.abc import Iterator, Mapping
from unicodedata import normalize

from setsearch.indexing.encodings import LOOKED_AT
from setsearch.indexing.formats.part import Decode, Part, Parts
from setsearch.text.headline import shorten

# Names of two letters, each with what it shows. Those of an accent and a letter, as 'e, are composed.
_TABLE = r"""
Bq„ bq‚ lq" rq" oq‘ cq’ aq' dq" Fo« Fc» fo‹ fc› lB[ rB] lC{ rC} la< ra> or| ba| bv| br| bb¦ rs\ sl/ ul_ ru_ ha^ ti~
em— en– hy- mi- bu• ci○ sq□ lz◊ dg† dd‡ ps¶ sc§ at@ sh# co© rg® tm™ r!¡ r?¿ OK✓ CR↵ lh☜ rh☞
fffff fifi flfl Fiffi Flffl AEÆ aeæ OEŒ oeœ IJĲ ijĳ ssß -DÐ Sdð TPÞ Tpþ .iı .jȷ /LŁ /lł /OØ /oø oAÅ oaå tsς
Do$ ct¢ Eu€ eu€ Ye¥ Po£ Cs¤ Fnƒ de° %0‰ fm′ sd″ mcµ Ofª Omº S1¹ S2² S3³ 12½ 14¼ 34¾ 18⅛ 38⅜ 58⅝ 78⅞ <-← ->→ <>↔
da↓ ua↑ lA⇐ rA⇒ hA⇔ pl+ -+∓ +-± pc· md⋅ mu× di÷ f/⁄ *** eq= <=≤ >=≥ <<≪ >>≫ !=≠ ==≡ =~≅ ap~ ~~≈ ~=≈ pt∝ sr√ is∫
pd∂ gr∇ if∞ AN∧ OR∨ no¬ te∃ fa∀ es∅ mo∈ nm∉ sb⊂ sp⊃ ib⊆ ip⊇ ca∩ cu∪ Ahℵ Imℑ Reℜ wp℘
"""
_GREEK = zip("ABGDEZYHIKLMNCOPRSTUFXQW", "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ", strict=True)
_GLYPHS = {pair[:2]: pair[2:] for pair in _TABLE.split()} | {
    f"*{case(name)}": case(letter) for name, letter in _GREEK for case in (str.upper, str.lower)
}
ACCENTS = {
    name: accent
    for names, accent in zip(
        "' aa|` ga|^ a^|~ a~|: ad|, ac|v ah|o ao|a\"|ab|ho|a.|a-".split("|"),
        "\u0301\u0300\u0302\u0303\u0308\u0327\u030c\u030a\u030b\u0306\u0328\u0307\u0304",
        strict=True,
    )
    for name in names.split()
}
# Strings of pod2man, whose definitions draw them, and of an-old.tmac.
_STRINGS = {"--": "—", 'L"': '"', 'R"': '"', "C+": "C++", "PI": "π", "Aq": "'", "lq": '"', "rq": '"'}
_SHOWN = {**dict.fromkeys("~0 t", " "), **dict.fromkeys("&|^/,%:){}!?adpruzE", ""), "e": "\\", "c": "\ue000"}
_GOES_ON = _SHOWN["c"]  # on the next line
# Macros of reports (ms), which others have not. They break a line.
_OF_MS = "TL NH AU AI AB AE FS FE DS DE KS KF KE QS QE XS XA XE EQ EN RP ND DA OH EH OF EF NL LG 1C 2C MC AM".split()
_SILENT = (  # macros whose arguments are no text, as those of requests, which have names in small letters
    "TH PD RS RE HP TP TQ PP P LP IX UC DT AT Vb Ve Sp TS T& TE EX EE UE ME YS INDENT UNINDENT LINKSTYLE "
    "Dd Dt Os Pp Bl El Bd Ed Bf Ef Bk Ek Sm"
).split() + _OF_MS
_BREAKS = "SS Ss PP P LP Pp IP TP TQ HP RS RE TS sp br".split() + _OF_MS
_JOINED = "BR IR RI BI RB IB".split()  # macros whose arguments are one word
_CALLED = (  # macros of mdoc(7) among arguments
    "Ac Ad An Ao Ap Aq Ar Bc Bo Bq Brc Bro Brq Cm Dc Do Dq Dv Ec Em Eo Er Ev Fa Fc Fl Fn Fo Ft Ic In Li Mt Nm No Ns Oc "
    "Oo Op Pa Pc Po Pq Qc Ql Qo Qq Sc So Sq Sx Sy Ta Tn Va Vt Xc Xo Xr"
).split()
# What is between brackets or quotes ends before another escape: of many without an end each is read once.
_string = re.compile(r"\\\*(?:\((..)|\[([^\]\n\\]*)\]|(.))(\w?)")
_own_string = re.compile(r"^[.'][ \t]*ds[ \t]+(\S+)[ \t]*\"?(.*)", re.MULTILINE)
_escape = re.compile(
    r"""\\(?: \(.. | \[[^\]\n\\]*\] | N'\d+' | C'[^']*'
    | [fFmMgknVY][+-]?(?:\[[^\]\n\\]*\]|\(..|.) | s[+-]?(?:\[[^\]\n\\]*\]|\([+-]?..|'[^']*'|[1-3]\d|\d)
    | [hvwlLDbxXZABRHSo](?:'[^'\n]*'|"[^"\n]*") | ["\#].* | . )""",
    re.VERBOSE,
)
_request = re.compile(r"[.'][ \t]*([^\s\\]*)[ \t]*(.*)")
_comment = re.compile(r"(?<!\\)\\[\"#].*")
_condition = re.compile(
    r"""(!*)[ \t]*([notev](?!\w)|[dcrmFS][ \t]*\S+|'[^']*'[^']*'|"[^"]*"[^"]*"|(?:(?!\\\{)\S)+)[ \t]*(.*)"""
)
_argument = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s\\])+)')
_cells = re.compile(r"^T\}(?:.T\{)?|\bT\{$")  # of tables
_layout = re.compile(  # of a table: options up to a semicolon, columns up to a point
    r"^(\.[ \t]*(?:TS|T&))(?:\n[^\n]*;[ \t]*$)?(?:(?:(?!\n\.[ \t]*T[SE&]).)*?\.[ \t]*$)?", re.MULTILINE | re.DOTALL
)
_definition = re.compile(  # up to .. or to the request that it names
    r"^[.'][ \t]*(?:(?:de|am)[1i]?[ \t]+\S+|ig)[ \t]*(?:(\S+).*?(?:^\.[ \t]*\1\b|\Z)|\n.*?(?:^\.[ \t]*\.|\Z))",
    re.MULTILINE | re.DOTALL,
)


def _lines(source: str) -> Iterator[tuple[str, str]]:
    """Each line as its request, "" for text, and the rest, without definitions and what a terminal does not show."""
    depth, is_true = 0, True
    source = _comment.sub("", source.replace("\\\n", ""))
    for line in _layout.sub(r"\1", _definition.sub("", source)).splitlines():
        if depth > 0:
            depth += line.count(r"\{") - line.count(r"\}")
            continue
        name, rest = _split(line)
        while name in ("if", "ie", "el"):
            if name != "el" and (found := _condition.match(rest)):
                is_true, rest = (found[2] in ("n", r"\n(.g", r"\n[.g]")) != (len(found[1]) % 2 == 1), found[3]
            else:
                is_true = name == "el" and not is_true
            if not is_true:
                depth = rest.count(r"\{") - rest.count(r"\}")
            name, rest = _split(rest.removeprefix(r"\{").lstrip()) if is_true else ("br", "")
        yield name, rest


def _strings(source: str) -> dict[str, str]:
    """The strings of a page by name; of those that it draws (pod2man), the accents."""
    own = dict(_own_string.findall(source))
    return own | {name: ACCENTS[name] for name in ACCENTS if "\\" in own.get(name, "")} | _STRINGS


def _spoken(name: str, rest: str, is_mdoc: bool, own_name: str) -> str:
    """The text of a line; `own_name` is that of what a page of mdoc is about."""
    if not name:
        return rest
    if name.islower() or name in _SILENT:
        return ""
    words = [(quoted.replace('""', '"') or bare) for quoted, bare in _argument.findall(rest)]
    words = [word for word in words if not is_mdoc or word not in _CALLED]
    if name == "IP":
        del words[1:]
    return "- " * (name == "Nd") + ("" if name in _JOINED else " ").join(words or [own_name] * (name == "Nm"))


def _text(line: str, strings: Mapping[str, str]) -> str:
    """What escapes and strings of a line show. An accent that the page does not draw stands before its letter."""

    def told(found: re.Match[str]) -> str:
        """The value of a string."""
        name, letter = found[1] or found[2] or found[3] or "", found[4]
        return strings[name] + letter if name in strings else letter + ACCENTS.get(name, "")

    for _ in range(3 * (r"\*" in line)):  # strings may have others
        line = _string.sub(told, line)
    return normalize("NFC", _escape.sub(_shown, _cells.sub(" ", line)))


def _split(line: str) -> tuple[str, str]:
    """The request of a line, "" for text, and the rest."""
    found = _request.match(line)
    if found is None:
        return "", line
    return found[1] or "br", found[2]


def _shown(escape: re.Match[str]) -> str:
    own = escape[0]
    if own[1] in "([":
        return _glyph(own[2:].removesuffix("]") if own[1] == "[" else own[2:])
    if own[1] in "NC" and len(own) > 2:
        return _glyph(f"char{own[3:-1]}" if own[1] == "N" else own[3:-1])
    return _SHOWN.get(own[1], own[1]) if len(own) == 2 else ""


def _glyph(name: str) -> str:
    """What a glyph shows; nothing if nobody knows it."""
    if name in _GLYPHS or len(name) == 1:
        return _GLYPHS.get(name, name)
    if re.fullmatch(r"u[0-9A-F]{4,6}(_[0-9A-F]{4,6})*", name):
        codes = [int(code, 16) for code in name[1:].split("_")]
        return "".join(chr(code) for code in codes if code < 0xD800 or 0xE000 <= code < 0x110000)
    if re.fullmatch(r"char\d{1,3}", name):
        return chr(int(name[4:]))
    accent, base = (name[0], name[1:]) if len(name) == 2 else name.partition(" ")[::-2]  # \('e, \[e aa]
    return _glyph(base) + ACCENTS[accent] if accent in ACCENTS else ""


def manual(data: bytes, decode: Decode) -> Parts:
    """A manual page; its title is what the section NAME says, in any language. Of a report, that of its title page."""
    source, lines, title, own_name = decode(data), list[str](), list[str](), ""
    is_mdoc, strings = re.search(r"^\.[ \t]*Dd\b", source, re.MULTILINE) is not None, _strings(source)
    sections, is_heading, is_over, is_report = 0, False, False, not is_manual(data)
    for name, rest in _lines(source):
        text = _text(_spoken(name, rest, is_mdoc, own_name), strings)
        own_name = own_name or text.partition(" ")[0] * (name == "Nm")
        is_section, is_break = name in ("SH", "Sh", "TL"), name in _BREAKS or not (name or rest.strip())
        sections += is_section
        if not (sections or is_report):  # what is before is for the printer
            continue
        if text.strip() or is_break:
            lines.append(text)
        is_over = is_over or sections > 1 or (is_break and bool(title))
        if is_section or (is_heading and text.strip()):
            is_heading = is_section and name != "TL" and not text.strip()  # it is the next line
        elif text.strip() and not is_over:
            title.append(text.strip())
    found = " ".join(title).replace(f"{_GOES_ON} ", "").replace(_GOES_ON, "").replace(" ,", ",")
    yield Part("\n".join(lines).replace(f"{_GOES_ON}\n", "").replace(_GOES_ON, ""), shorten(found or None))


def is_manual(data: bytes) -> bool:
    """Whether a text is the source of a manual page."""
    return re.search(rb"^\.(TH|Dd|so) ", data[:LOOKED_AT], re.MULTILINE) is not None
