"""Formats of files: markup goes, words stay, nothing is read in silence, and hostile files harm nobody."""

import json
import os
import re
import sys
import zipfile
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given
from laws import examples
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

import setsearch
from setsearch.indexing.files import FileReader
from setsearch.indexing.formats import FORMATS, apart, calendars, office, pages, subtitles, text, xml
from setsearch.indexing.formats.apart import BATCH, Job, Reader, TooMuch
from setsearch.indexing.formats.broken_words import join_broken_words, without_underscores
from setsearch.indexing.formats.pages import MOST_BROKEN, Page, read_page
from setsearch.indexing.rows.reader import RowReader
from setsearch.text import latex
from setsearch.text.latex import latex_document, latex_text


def read(path, name=None, **options):
    """The documents of a file: text and title by id; and what was not read."""
    reader = FileReader(RowReader(**options))
    found = {own.id: (own.text, own.title) for own in reader.documents(path, name or path.name, is_named=True)}
    return found, reader


SRT = (
    "1\n00:00:01,000 --> 00:00:02,500\n<i>Hello there</i>\n\n2\n00:00:03,000 --> 00:00:04,000\n{\\an8}The lions\ncome\n"
)
VTT = (
    "WEBVTT - a film\n\nNOTE not said\n\nintro\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello &amp; <b>there</b>\n"
)
ORG = """#+TITLE: Big cats
#+AUTHOR: nobody
* TODO [#A] Lions  :cats:
:PROPERTIES:
:ID: 1234
:END:
DEADLINE: <2024-01-05>
They [[https://x.org/page][hunt zebras]].
#+BEGIN_SRC python
print("roar")
#+END_SRC
"""
TEX = r"""\documentclass[12pt]{article}
\usepackage{amsmath}
\title{Big \emph{cats} of \"Osterreich\thanks{a grant}}
\begin{document}
\maketitle
\section{Lions}\label{sec:lions}
They hunt \cite{smith} zebras. % a comment
\begin{figure}\includegraphics{a.png}\caption{A lion.}\end{figure}
\begin{comment}unsaid\end{comment} Set by \LaTeX{}.
\end{document}
leftover
"""
TEXINFO = r"""\input texinfo @c words
@c a comment
@ignore
@settitle An old title
@end ignore
@settitle Big @emph{cats} @value{VERSION}
@node Top
@top Cats
@ignore
unsaid
@end ignore
@cindex entry
@table @code
@item lions@footnote{a note}
na@"ive @'{e}tude @v{s}ah stra@ss{}e @code{hunt}ers @{ @} me@@zoo
@end table
@tex
\vskip
@end tex
@xref{Zebras, , prey}.
@anchor{place}
"""
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "source": "import roar", "outputs": [{"data": {"image/png": "iVBORw0KGgoAAAAN"}}]},
            {"cell_type": "markdown", "source": ["# Whale songs\n", "We study whales."]},
        ],
        "metadata": {},
        "nbformat": 4,
    }
)
MARKUP = {
    "a.srt": (SRT, "Hello there", "hello there lions come", "an8 i 00 1"),
    "a.vtt": (VTT, "Ann: Hello & there", "ann hello there", "webvtt said align intro amp"),
    "a.org": (ORG, "Big cats", "big cats lions hunt zebras roar", "nobody 1234 properties deadline https src todo"),
    "a.tex": (
        TEX,
        "Big cats of Österreich",
        "big cats of österreich lions hunt zebras latex",
        "comment smith sec documentclass png grant unsaid leftover",
    ),
    "a.texi": (
        TEXINFO,
        "Big cats",
        "big cats lions a note naïve étude šah straße hunters me zoo zebras prey",
        "comment version old unsaid entry table item vskip place node top end code emph footnote input",
    ),
    "a.ipynb": (NOTEBOOK, "Whale songs", "import roar whale songs study", "nbformat markdown ivborw0kggoaaaan"),
}


@pytest.mark.parametrize("name", MARKUP)
@pytest.mark.parametrize("ending", ["as it is", ".txt", ""])
def test_markup_is_no_text(run, tmp_path, name, ending):
    text, title, words, others = MARKUP[name]
    if ending != "as it is" and name == "a.org":
        return  # nothing at its beginning says for sure what it is
    file = name if ending == "as it is" else f"b{ending}"
    (tmp_path / file).write_text(text)
    assert run("index", "a.db", file)[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        assert documents.titles([file]) == {file: title}
        found = set(documents.features_of(file))
        assert set(words.split()) <= found
        assert not set(others.split()) & found


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"na\"ive \href{http://x.org}{link} quolls", "naïve link quolls"),
        (r"a \texttt{kowari} \verb|quolls| \mbox{tigers} \today", "a kowari quolls tigers"),
        (r"{\textless}i{\textgreater}cat", "<i>cat"),
        (r"\unknown{bar} H\textsubscript{2}O x\footnote{a note}", "bar H2O x a note"),
    ],
)
def test_words_of_commands_stay(source, text):
    assert latex_text(source) == text


def test_headings_of_latex_stay_as_they_were_typed():
    source = "\\section*{Big Cats}\\label{x}\n\\subsection[Short]{In {\\em India}}\nLions.\\paragraph{Manes.} Dark."
    assert latex_document(source) == ("Big Cats\n\nIn India\n\nLions.\n\nManes. Dark.", "Big Cats")


def test_arguments_of_commands_that_nobody_knows_are_words():
    source = r"""\begin{desc}{cats}{lions}
    \person{Ann}{Bob} roar\index{cats!big}. \bibitem{key} Gr\"{o}{\ss}e $\frac{1}{2}$
    gr{\"o}{\ss}er {\v c}{\'e}{\o}\end{desc}"""
    assert latex_document(source)[0].split() == "cats lions Ann Bob roar. Größe 1/2 größer čéø".split()


def test_of_what_stands_before_a_document_of_latex_its_title_page_is_read():
    """Not what sets up packages, nor the place of a link."""
    before = "\\hypersetup{pdftitle=x}\\def\\fps@figure{htbp}\\title{Big cats}% \\author{Bob}\n\\author{Ann \\& Cem}"
    inside = "\\begin{document}\\hypertarget{cats}{\\section{Lions}} roar.\\end{document}"
    text, title = latex_document(before + inside)
    assert (text.split(), title) == (["Big", "cats", "Ann", "&", "Cem", "Lions", "roar."], "Big cats")


def test_latex_without_its_library_keeps_its_commands(monkeypatch):
    monkeypatch.setitem(sys.modules, "pylatexenc.latex2text", None)
    latex._converter.cache_clear()
    (unread, part) = FORMATS[".tex"](TEX.encode(), bytes.decode)
    assert "zebras" in part.text and "pylatexenc" in unread.what


@pytest.mark.parametrize(
    "piece", ["<a b='", "<!--", "<svg>", "<script>", "<![CDATA[", "</p", "<p a=\"'", "<?", "&amp", "<title>", "<a <b"]
)
def test_hostile_pages_take_linear_time(piece, monkeypatch):
    """A tag that does not end is looked at up to the end of the page: so only a few may be tried."""
    given_up = []
    for name in ("parse_starttag", "parse_endtag", "parse_html_declaration", "parse_pi"):
        parse = getattr(Page, name)

        def counted(self, place, parse=parse):
            end = parse(self, place)
            given_up.append(end < 0)
            return end

        monkeypatch.setattr(Page, name, counted)
    count = 3000
    read_page(piece * count + "</b>" * count).text()
    assert sum(given_up) <= MOST_BROKEN
    assert len(given_up) <= 2 * count + MOST_BROKEN


@pytest.mark.parametrize(
    ("form", "piece"),
    [
        (calendars.calendar, "QUOTED-PRINTABLE"),
        *((calendars.calendar, piece) for piece in ("N;QUOTED-PRINTABLE:a=\n", "\n ", ";\"", "a.", "BEGIN:VEVENT\n")),
        *((xml.xml, piece) for piece in ("<title>x", "<a x='ab", "<category ")),
        *((text.texinfo, piece) for piece in ("@ignore\n", "@tex\n@html\n", "@anchor{", '@"{', "@c ", "@end ignore\n")),
    ],
)  # fmt: skip
def test_hostile_texts_take_linear_time(form, piece):
    whole = f"<rss><item>{50_000 * piece}</item></rss>" if form is xml.xml else f"BEGIN:VCALENDAR\n{50_000 * piece}"
    assert [*form(whole.encode(), bytes.decode)]


@pytest.mark.parametrize(
    "pattern",
    [
        *(office._moved, office._margin_of_page, office._blank, office._hidden, latex._title, latex._shown_before),
        subtitles._voice,
    ],
)
@pytest.mark.parametrize("piece", ["<w:moveFrom ", "<style:header>", "<w:br ", "\\*", "</w:rt ", "\\title[", "<v "])
def test_parts_of_documents_are_searched_in_linear_time(pattern, piece):
    assert pattern.search(100_000 * piece) is None


def test_words_behind_a_tag_that_does_not_end_are_read():
    page = read_page("<p>lions <a href='x>tigers</a> bears <b>wolves")
    assert {"lions", "bears", "wolves"} <= set(page.text().split())
    assert read_page("a &lt; b &am").text() == "a < b &am"


MULTIPART = """From: a@b.c
Subject: Big cats
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: multipart/alternative; boundary=Y

--Y
Content-Type: text/plain

First lions.
--Y
Content-Type: text/html

<p>First <b>lions</b> once more.
--Y--
--X
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--X
Content-Type: text/html

<p>Second <b>tigers</b>.
--X
Content-Type: message/rfc822

Subject: Forwarded
Content-Type: text/plain

Third bears.
--X
Content-Type: text/plain
Content-Disposition: attachment; filename=log.txt

attached words
--X--
"""


def test_all_texts_of_a_mail_are_read_and_the_rest_is_told(run, tmp_path):
    (tmp_path / "a.eml").write_text(MULTIPART)
    (text, title), attached = read(tmp_path / "a.eml")[0].values()
    assert (title, text.split("\n")[0]) == ("Big cats", "Big cats")
    assert attached == ("attached words", "attached words")
    assert text.count("lions") == 1 and "tigers" in text and "Forwarded\nThird bears." in text
    assert "attached words" not in text
    assert "not read: 1 part of mail\n" in run("index", "a.db", "a.eml")[2]
    (tmp_path / "b.eml").write_text(MULTIPART.partition("--X\nContent-Type: text/plain\nContent-Disposition")[0])
    assert "not read: 1 part of mail\n" in run("index", "b.db", "b.eml")[2]
    assert "not read: 2 parts of mail\n" in run("index", "c.db", "a.eml", "b.eml")[2]


def test_headers_may_have_raw_bytes(tmp_path):
    (tmp_path / "a.eml").write_bytes("Subject: Löwen in Köln\n\nGrüße\n".encode("latin-1"))
    (tmp_path / "b.eml").write_bytes("Subject: Löwen in Köln\n\nGrüße\n".encode())
    for name in ("a.eml", "b.eml"):
        assert read(tmp_path / name)[0] == {name: ("Löwen in Köln\nGrüße\n", "Löwen in Köln")}


def test_a_line_that_begins_with_from_is_no_message(tmp_path):
    text = (
        "From a@b.c Mon Jan  1 10:00:00 2024\nSubject: one\n\nHello.\n\nFrom here on wolves howl.\nNote: foxes.\n\n"
        ">From the den.\n\nFrom a@b.c Mon Jan  1 11:00:00 2024\nSubject: two\n\nBears.\n"
    )
    for name in ("a.mbox", "mail"):
        (tmp_path / name).write_text(text)
        found, _ = read(tmp_path / name)
        assert [*found] == [f"{name}#1", f"{name}#2"]
        assert "wolves howl.\nNote: foxes.\n\nFrom the den." in found[f"{name}#1"][0]


def make_pdf(path, pages, title=None, cmap=None):
    writer = PdfWriter()
    for content in pages:
        page = writer.add_blank_page(600, 800)
        font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
        font = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
        if cmap:
            stream = DecodedStreamObject()
            stream.set_data(cmap)
            font[NameObject("/ToUnicode")] = writer._add_object(stream)
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        lines = b" 0 -14 Td ".join(b"(" + line + b") Tj" for line in content)
        stream.set_data(b"BT /F1 12 Tf 50 700 Td " + lines + b" ET")
        page[NameObject("/Contents")] = writer._add_object(stream)
    if title is not None:
        writer.add_metadata({"/Title": title})
    writer.write(path)


def test_words_that_a_line_of_a_pdf_breaks_are_whole(tmp_path):
    make_pdf(tmp_path / "a.pdf", [[b"The lions are con-", b"sidered large cats."]])
    ((text, _),) = read(tmp_path / "a.pdf")[0].values()
    assert text.split() == "The lions are considered large cats.".split()


def test_words_that_a_line_of_a_text_breaks_are_whole(tmp_path):
    (tmp_path / "scanned.txt").write_bytes("The com-\r\nmission of the har\u00ac\nbour".encode())
    ((text, title),) = read(tmp_path / "scanned.txt")[0].values()
    assert text.split() == "The commission of the harbour".split()
    assert title == "The commission"
    (tmp_path / "code.py").write_text("left-\nright")
    assert read(tmp_path / "code.py")[0] == {"code.py": ("left-\nright", "code.py")}


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("con-\nsidered", "considered\n"),
        ("con\u2010\n  sidered by", "considered\n by"),
        ("well-\nknown, well-known", "well-known\n, well-known"),
        ("wellknown well-\nknown", "wellknown wellknown\n"),
        ("well-\nknown; he is well; a known long-term, low-cost view", "well-known\n; he is well; a known long-term"),
        ("with-\nout, with, out, a long-term view, without", "without\n, with, out"),
        ("weiter-\ngehen, weiter, gehen und noch viel mehr", "weitergehen\n, weiter"),
        ("Smith-\nJones", "Smith-\nJones"),
        ("1990-\n2000", "1990-\n2000"),
        ("a dash -\nhere", "a dash -\nhere"),
        ("schön-\nübel", "schönübel\n"),
        ("har\u00ac\nbour, har-bour", "harbour\n, har-bour"),
        ("har\u00ad\r\nbour", "harbour\n"),
        ("aa-\nb-\nc", "aab\n-\nc"),
        ("__-\nx, -\ny", "__-x\n, -\ny"),
        ("p-\nvalue", "p-value\n"),
        ("e-\nmail, email", "email\n, email"),
        ("DNA-\nbinding", "DNA-binding\n"),
        ("COVID-19-\nrelated", "COVID-19-related\n"),
        ("H\u00ad\nand", "Hand\n"),
        ("pre-\nand post-war", "pre-\nand post-war"),
        ("Vor-\nund Nachteile", "Vor-\nund Nachteile"),
        ("thous-\nand, thousand", "thousand\n, thousand"),
    ],
)
def test_broken_words(text, joined):
    assert join_broken_words(text).startswith(joined)


@given(st.text(alphabet="a_ é.\n7", max_size=30))
@examples(200)
def test_words_have_no_underscores_at_their_ends(text):
    """As the plain definition; those within a word, and lines of them, stay."""
    plain = [re.sub(r"(?<=[^\W_])_+\Z|\A_+(?=[^\W_])", "", own) for own in re.split(r"(\W)", text)]
    assert without_underscores(text) == "".join(plain)


@pytest.mark.parametrize("name", ["a.md", "a.rst", "a.txt", "a.org", "a.eml", "a.ipynb"])
def test_marks_of_emphasis_are_no_letters(tmp_path, name):
    said = "Big _cats_ of __India__ and snake_case"
    text = {"a.eml": f"From: a@b.c\nSubject: x\n\n{said}", "a.ipynb": json.dumps({"cells": [{"source": said}]})}
    (tmp_path / name).write_text(text.get(name, said))
    ((found, _),) = read(tmp_path / name)[0].values()
    assert found.split()[-6:] == ["Big", "cats", "of", "India", "and", "snake_case"]


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("untitled", "Lions of the savanna"),
        ("Microsoft Word - Document1", "Lions of the savanna"),
        ("Microsoft Word - final_v2.doc", "Lions of the savanna"),
        ("PowerPoint Presentation", "Lions of the savanna"),
        ("paper.dvi", "Lions of the savanna"),
        ("", "Lions of the savanna"),
        ("On cats", "On cats"),
        ("Untitled", "Lions of the savanna"),
        ("Words", "Words"),
    ],
)
def test_titles_of_pdf_files_that_a_program_left(tmp_path, title, shown):
    make_pdf(tmp_path / "a.pdf", [[b"Lions of the savanna"]], title)
    assert read(tmp_path / "a.pdf")[0]["a.pdf"][1] == shown


def test_nul_in_what_a_library_extracts_is_a_blank(run, tmp_path):
    cmap = (
        b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange\n1 beginbfrange <20> <7E> <0020> endbfrange\n"
        b"1 beginbfchar <80> <0000> endbfchar endcmap"
    )
    make_pdf(tmp_path / "a.pdf", [[b"The \\200eld of lions"]], None, cmap)
    assert run("index", "a.db", "a.pdf")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert {"eld", "lions"} <= set(index.items("documents").features_of("a.pdf"))
    (tmp_path / "b.txt").write_bytes(b"a text" * 2000 + b"\0")
    code, _, said = run("index", "b.db", "b.txt")
    assert code == 1 and "NUL at byte 12000; leave it out, or pass --errors replace or" in said.replace(")", "")
    (tmp_path / "c.log").write_bytes(bytes(4096) + b"refused\n")  # as a crash leaves one
    code, _, said = run("index", "b.db", "c.log")
    assert code == 1 and "c.log is not text;" in said and "--errors replace reads" in said
    for name, word in (("b.txt", "text"), ("c.log", "refused")):
        assert run("index", "b.db", name, "--errors", "replace")[0] == 0
        with setsearch.open(tmp_path / "b.db") as index:
            assert word in index.items("documents").features_of(name)


def test_pages_without_a_text_are_told(run, tmp_path):
    make_pdf(tmp_path / "a.pdf", [[b"Lions"], [b""], [b""]])
    said = run("index", "a.db", "a.pdf")[2]
    assert "not read: 2 pages without text" in said


def test_a_pdf_is_known_by_its_beginning(tmp_path):
    make_pdf(tmp_path / "a.txt", [[b"Lions"]])
    assert read(tmp_path / "a.txt")[0] == {"a.txt": ("Lions", "Lions")}


OPEN_XML = "http://schemas.openxmlformats.org"
DOCX = {
    "[Content_Types].xml": f"""<Types xmlns="{OPEN_XML}/package/2006/content-types"><Default Extension="rels"
        ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml"
        ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>""",
    "_rels/.rels": f"""<Relationships xmlns="{OPEN_XML}/package/2006/relationships"><Relationship Id="r1"
        Type="{OPEN_XML}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>
        </Relationships>""",
    "word/document.xml": f"""<w:document xmlns:w="{OPEN_XML}/wordprocessingml/2006/main"><w:body>
        <w:p><w:r><w:t>Big cats</w:t></w:r></w:p><w:p><w:r><w:t>Lions hunt zebras.</w:t></w:r></w:p></w:body>
        </w:document>""",
}


EPUB = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
        <rootfile full-path="a.opf" media-type="application/oebps-package+xml"/></rootfiles></container>""",
    "a.opf": """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>
        <dc:title>Big cats</dc:title><dc:creator>Ann Ray</dc:creator><dc:language>en</dc:language>
        <dc:identifier>isbn 1</dc:identifier><dc:publisher>Ulm</dc:publisher><dc:date>2001</dc:date></metadata>
        <manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>
        <spine><itemref idref="c"/></spine></package>""",
    "c.xhtml": "<html xmlns='http://www.w3.org/1999/xhtml'><body><p>Lions hunt zebras.</p></body></html>",
}


def office_files(folder):
    pptx, openpyxl, odfdo = (pytest.importorskip(name) for name in ("pptx", "openpyxl", "odfdo"))
    with zipfile.ZipFile(folder / "a.docx", "w") as archive:
        for name, content in DOCX.items():
            archive.writestr(name, content)
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Big cats", "Lions hunt zebras."
    slide.notes_slide.notes_text_frame.text = "Speak up."
    slides.save(folder / "a.pptx")
    book = openpyxl.Workbook()
    for row in (["Big cats", None], ["lions", "hunt"], [None, "zebras"]):
        book.active.append(row)
    book.save(folder / "a.xlsx")
    text = odfdo.Document("text")
    text.body.clear()
    text.body.append(odfdo.Header(1, "Big cats"))
    text.body.append(odfdo.Paragraph("Lions hunt zebras."))
    text.save(folder / "a.odt")
    table = odfdo.Document("spreadsheet")
    table.body.clear()
    own = odfdo.Table("Cats")
    own.set_values([["big", "cats"], ["lions", "hunt zebras"]])
    table.body.append(own)
    table.save(folder / "a.ods")


@pytest.mark.parametrize("other", [None, "b", "b.txt"])
def test_documents_of_office_programs_are_read(run, tmp_path, other):
    pytest.importorskip("markitdown")
    office_files(tmp_path)
    files = [f"a{ending}" for ending in (".docx", ".pptx", ".xlsx", ".odt", ".ods")]
    if other:
        (tmp_path / files[0]).rename(tmp_path / other)
        files = [other]
    code, _, said = run("index", "a.db", *files)
    assert code == 0
    told = "read 2 files (a.xlsx, a.ods) as a document each; --text COL reads their rows"
    assert (told in said) == (other is None)
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        for name in files:
            found = documents.features_of(name)
            assert {"big", "cats", "lions", "hunt", "zebras"} <= set(found), name
            assert not {"nan", "unnamed", "slide", "number", "notes"} & set(found), name


def test_marks_within_words_of_word_are_none_of_them(tmp_path):
    pytest.importorskip("markitdown")
    runs = "".join(
        f"<w:r><w:rPr>{style}</w:rPr><w:t>{text}</w:t></w:r>"
        for text, style in [
            ("snake_case un", ""),
            ("der", '<w:u w:val="single"/>'),
            ("line ", ""),
            ("ti", "<w:b/>"),
            ("ger it", ""),
            ("alic", "<w:i/>"),
        ]
    )
    paragraph = "<w:p><w:r><w:t>Big cats</w:t></w:r></w:p>"
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in DOCX.items():
            archive.writestr(name, content.replace(paragraph, f"<w:p>{runs}</w:p>"))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((own.id, own.text) for own in FileReader(RowReader()).documents(tmp_path / "a.docx", "a", True))
        words = {"snake_case", "underline", "tiger", "italic", "lions", "hunt", "zebras"}
        assert set(index.items("documents").features_of("a")) == words


def test_notes_boxes_and_headers_of_rtf_are_read(tmp_path):
    """Marked as what a reader may leave out, as Word and LibreOffice do; the title is a line of the text."""
    pytest.importorskip("striprtf")
    box = r"{\shp{\*\shpinst\shpleft0{\sp{\sn shape}{\sv 202}}{\shptxt rest}}{\shprslt{\*\do{\dptxbxtext rest}}}}"
    note = r"{\super\chftn}{\*\footnote\chftn\~ in Africa}{\*\atnauthor Ann}{\*\annotation{\*\atnref 1} really}"
    (tmp_path / "a.rtf").write_text(
        rf"{{\rtf1\ansi{{\header Zoo\par}}\pard Lions {note} {box}\par{{\footer draft\par}}}}"
    )
    ((_, text, title, _),) = FileReader(RowReader()).documents(tmp_path / "a.rtf", "a", True)
    assert text.split() == ["Zoo", "Lions", "in", "Africa", "really", "rest", "draft"]
    assert title == "Lions in Africa really rest"


def test_a_path_in_rtf_keeps_its_folders():
    """Two backslashes are one of the text, and no mark of a note or a header."""
    pytest.importorskip("striprtf")
    (part,) = FORMATS[".rtf"](rb"{\rtf1 Maps: D:\\shp\\header\\annotation}", bytes.decode)
    assert part.text == r"Maps: D:\shp\header\annotation"


def test_a_footnote_of_word_is_no_part_of_a_word(tmp_path):
    pytest.importorskip("markitdown")
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    link = f'<Relationship Id="n" Type="{kind}" Target="footnotes.xml"/>'
    note = "<w:p><w:r><w:t>Lions</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r><w:r><w:t>!</w:t></w:r></w:p>"
    others = {
        "word/_rels/document.xml.rels": DOCX["_rels/.rels"].partition("<Relationship ")[0] + f"{link}</Relationships>",
        "word/footnotes.xml": f"<w:footnotes xmlns:w='{OPEN_XML}/wordprocessingml/2006/main'><w:footnote w:id='2'>"
        "<w:p><w:r><w:t>zebras</w:t></w:r></w:p></w:footnote></w:footnotes>",
        "word/document.xml": DOCX["word/document.xml"].replace("<w:p><w:r><w:t>Big", f"{note}<w:p><w:r><w:t>Big"),
    }
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in (DOCX | others).items():
            archive.writestr(name, content)
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.docx", "a", True)
    assert text.startswith("Lions!\n") and "zebras" in text.splitlines()[-1]


def test_words_that_a_library_passes_over_are_read(tmp_path):
    """Those of simple fields, of formulas and of drawings; each once, and not what was moved away."""
    pytest.importorskip("markitdown")
    run = "<w:r><w:t>{}</w:t></w:r>".format
    field, math = (
        f"<w:fldSimple w:instr='REF x'>{run('fi')}{run('eld')}</w:fldSimple>",
        "<m:r><m:t>{}</m:t></m:r>".format,
    )
    moved = f"<w:moveFrom w:id='2'>{run('elsewhere')}</w:moveFrom>"
    added = f"<w:p>{run('Lions hunt in the ')}{field}{moved}</w:p>"
    added += f"<w:p><m:oMath>{math('speed')}{math('time')}</m:oMath></w:p>"
    parts = {
        "word/document.xml": DOCX["word/document.xml"].replace("<w:p>", f"{added}<w:p>", 1),
        "word/diagrams/data1.xml": "<dgm:t><a:p><a:r><a:t>Lions </a:t></a:r><a:r><a:t>rest</a:t></a:r></a:p></dgm:t>",
        "word/charts/chart1.xml": "<c:strCache><c:pt><c:v>Meals</c:v></c:pt><c:pt><c:v>Lions</c:v></c:pt></c:strCache>"
        "<c:numCache><c:pt><c:v>4.3</c:v></c:pt></c:numCache><a:p><a:r><a:t>Meals a day</a:t></a:r></a:p>",
    }
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in (DOCX | parts).items():
            archive.writestr(name, content)
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.docx", "a", True)
    assert [line for line in text.splitlines() if line][-5:] == ["Lions rest", "field", "speed time", "Meals", "day"]
    assert "elsewhere" not in text


def test_parts_of_office_files_are_looked_through_in_linear_time(tmp_path):
    """Long numbers, marks without their end, and blanks: else minutes, after which such a file is left out."""
    pytest.importorskip("markitdown")
    parts = {
        "word/charts/chart1.xml": f"<c:v>{'1' * 200_000} meals</c:v>{'<w:moveFrom ' * 50_000}",
        "xl/worksheets/sheet1.xml": f"</f>{' ' * 500_000}",
    }
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in (DOCX | parts).items():
            archive.writestr(name, content)
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.docx", "a", True)
    assert text.splitlines()[-1] == "meals"


def test_comments_of_word_are_read(tmp_path):
    pytest.importorskip("markitdown")
    runs = "<w:p><w:r><w:t>ask the zoo</w:t></w:r><w:r><w:t>keeper</w:t></w:r></w:p>"
    comments = f"<w:comments xmlns:w='{OPEN_XML}/wordprocessingml/2006/main'><w:comment w:id='0'>{runs}"
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in (DOCX | {"word/comments.xml": f"{comments}</w:comment></w:comments>"}).items():
            archive.writestr(name, content)
    ((_, text, title, _),) = FileReader(RowReader()).documents(tmp_path / "a.docx", "a", True)
    assert text.splitlines()[-1] == "ask the zookeeper" and "keeper" not in title


def test_comments_of_cells_are_read(tmp_path):
    pytest.importorskip("markitdown")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["lions"])
    for cell, said in (("A1", "ask the zoo & its keeper"), ("B2", "or nobody")):
        book.active[cell].comment = openpyxl.comments.Comment(said, "Ann")
    book.save(tmp_path / "a.xlsx")
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.xlsx", "a", True)
    assert text.splitlines()[-2:] == ["ask the zoo & its keeper", "or nobody"]


@pytest.mark.parametrize(
    ("cell", "said"), [("big\nlions\troar", "big lions roar"), ("C:\\new\nor old", r"C:\new\nor old")]
)
def test_lines_of_a_cell_are_whole_words(tmp_path, cell, said):
    """Beside a path that has the same sign nobody knows which is which."""
    pytest.importorskip("markitdown")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["cats"])
    book.active.append([cell])
    book.save(tmp_path / "a.xlsx")
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.xlsx", "a", True)
    assert said in text


@pytest.mark.parametrize("has_thread", [True, False])
def test_comments_of_a_thread_are_read_once(tmp_path, has_thread):
    """Excel writes each once more for older versions, below a notice; other programs may keep that one alone."""
    pytest.importorskip("markitdown")
    openpyxl = pytest.importorskip("openpyxl")
    book, notice = openpyxl.Workbook(), "[Threaded comment] Your version allows you to read it. Comment: two of them"
    book.active.append(["lions"])
    for cell, said, author in (("A1", "ask the zoo", "Ann"), ("B2", notice, "tc={0B5D-1F}"), ("C3", "or me", "Bob")):
        book.active[cell].comment = openpyxl.comments.Comment(said, author)
    book.save(tmp_path / "a.xlsx")
    if has_thread:
        thread = (
            "<ThreadedComments><threadedComment ref='B2'><text>two of them</text></threadedComment></ThreadedComments>"
        )
        with zipfile.ZipFile(tmp_path / "a.xlsx", "a") as archive:
            archive.writestr("xl/threadedComments/threadedComment1.xml", thread)
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.xlsx", "a", True)
    own = ["ask the zoo", "or me", "two of them"] if has_thread else ["ask the zoo", notice, "or me"]
    assert text.splitlines()[-3:] == own


def test_headers_and_footers_of_word_are_read_once(tmp_path):
    pytest.importorskip("markitdown")
    header = "<w:hdr><w:p><w:r><w:t>Zoo of </w:t></w:r><w:r><w:t>Ulm</w:t></w:r></w:p>%s</w:hdr>"
    parts = {
        "word/header1.xml": header % "",
        "word/header2.xml": header % "<w:p><w:r><w:t>of lions</w:t></w:r></w:p>",
        "word/footer1.xml": "<w:ftr><w:p><w:r><w:instrText>PAGE</w:instrText><w:t>draft</w:t></w:r></w:p></w:ftr>",
        "word/headers.xml": "<w:p><w:r><w:t>other</w:t></w:r></w:p>",
    }
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in (DOCX | parts).items():
            archive.writestr(name, content)
    ((_, text, title, _),) = FileReader(RowReader()).documents(tmp_path / "a.docx", "a", True)
    assert [line for line in text.splitlines() if line][-3:] == ["Zoo of Ulm", "of lions", "draft"]
    assert text.count("Ulm") == 1 and "other" not in text and "Ulm" not in title


def test_a_picture_of_a_page_is_what_is_said_in_its_place():
    page = "<p>See<img src='a.png' alt='a lion &amp; a tiger'>there<img><img alt=''></p><script><img alt='no'></script>"
    (part,) = pages.html(f"<html>{page}".encode(), bytes.decode)
    assert part.text == "See\na lion & a tiger\nthere"


def test_the_number_of_a_note_is_no_part_of_a_word():
    page = "Lions<sup><a href='#f1'>1</a></sup> ro<a href='x'>ar</a><a href='#f2'><sup>2</sup></a> at 5 m<sup>2</sup>."
    (part,) = pages.html(f"<html><p>{page}".encode(), bytes.decode)
    assert part.text == "Lions 1 roar 2 at 5 m2."


def test_a_page_with_a_declaration_that_there_is_not_is_read():
    (part,) = pages.html(b"<p>lions<![x y> hunt<![if !a]> zebras", bytes.decode)
    assert part.text == "lions hunt zebras"


CUES = ["The light-\nhouse keeper was walk\xad\ning", "I was just-", "no, you were not", "Well-\n- Yes"]


@pytest.mark.parametrize("form", ["srt", "vtt", "ass"])
def test_words_that_a_cue_breaks_are_whole(form):
    times = [f"00:00:0{number},000 --> 00:00:09,000" for number in range(len(CUES))]
    source = {
        "srt": "".join(f"1\n{time}\n{cue}\n\n" for time, cue in zip(times, CUES, strict=True)),
        "vtt": "WEBVTT\n\n" + "".join(f"{time}\n{cue}\n\n" for time, cue in zip(times, CUES, strict=True)),
        "ass": "".join(
            "Dialogue: 0,0:00:01.00,0:00:02.00,,,0,0,0,,{}\n".format(cue.replace("\n", "\\N")) for cue in CUES
        ),
    }
    (part,) = subtitles.subtitles(source[form].encode(), bytes.decode)
    assert part.text.split() == "The lighthouse keeper was walking I was just- no, you were not Well- - Yes".split()


SCROLLED = """WEBVTT
Kind: captions
Language: en

00:00:00.160 --> 00:00:02.230 align:start position:0%
 
hello<00:00:00.480><c> and</c>

00:00:02.230 --> 00:00:02.240 align:start position:0%
hello and
 

00:00:02.240 --> 00:00:04.150 align:start position:0%
hello and
42

00:00:04.150 --> 00:00:04.160 align:start position:0%
42
 

00:00:04.160 --> 00:00:06.000 align:start position:0%
42
42
"""


def test_captions_that_scroll_are_said_once():
    """As YouTube writes them; what is said twice stays, and the other captions as they are."""
    (part,) = subtitles.subtitles(SCROLLED.encode(), bytes.decode)
    assert part.text == "hello and\n42\n42"
    for cues in (("No.", "No.", "No.\nWhy?", "Because."), ("La la la", "La la la", "La la la", "Oh!", "La la la")):
        source = "".join(f"{place}\n00:00:0{place},000 --> 00:00:09,000\n{cue}\n \n" for place, cue in enumerate(cues))
        (part,) = subtitles.subtitles(source.encode(), bytes.decode)
        assert part.text == "\n".join(cues)


def test_notes_and_cells_of_open_document(tmp_path):
    """A note stands behind its paragraph, not within a word; a cell needs no type; what was deleted is no text.

    Of a chart the words that the text has not.
    """
    odfdo = pytest.importorskip("odfdo")
    document = odfdo.Document("text")
    document.body.clear()
    for part in (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>",
        "<text:p>lion<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>hunts</text:p></text:note-body></text:note>ess ti<text:span>ger</text:span>"
        "<office:annotation><text:p>really</text:p></office:annotation></text:p>",
        "<table:table><table:table-row><table:table-cell><text:p>zebra</text:p></table:table-cell></table:table-row>"
        "</table:table>",
        "<text:p>be<draw:frame><draw:text-box><text:p>framed</text:p></draw:text-box></draw:frame>ar</text:p>",
    ):
        document.body.append(odfdo.Element.from_tag(part))
    document.save(tmp_path / "a.odt")
    with zipfile.ZipFile(tmp_path / "a.odt", "a") as archive:
        archive.writestr(
            "Object 1/content.xml", "<table:table><text:p>meals</text:p><text:p>zebra</text:p></table:table>"
        )
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.odt", "a", True)
    assert text.split() == ["lioness", "tiger", "hunts", "really", "zebra", "bear", "framed", "meals"]


def test_headers_and_footers_of_open_document_are_read_once(tmp_path):
    odfdo = pytest.importorskip("odfdo")
    document = odfdo.Document("text")
    document.body.clear()
    document.body.append(odfdo.Element.from_tag("<text:p>lions</text:p>"))
    page = document.styles.get_element("//style:master-page")
    for kind, said in (
        ("header", "Zoo of<text:tab/><text:span>Ul</text:span>m"),
        ("footer", "draft"),
        ("footer-left", "draft"),
    ):
        page.append(odfdo.Element.from_tag(f"<style:{kind}><text:p>{said}</text:p></style:{kind}>"))
    document.save(tmp_path / "a.odt")
    ((_, text, title, _),) = FileReader(RowReader()).documents(tmp_path / "a.odt", "a", True)
    assert (text, title) == ("lions\nZoo of Ulm\ndraft", "lions")


@pytest.mark.parametrize("kind", ["drawing", "text-template", "presentation-template"])
def test_drawings_and_templates_of_open_document_are_read(tmp_path, kind):
    odfdo = pytest.importorskip("odfdo")
    document = odfdo.Document("drawing" if kind == "drawing" else "text")
    document.body.clear()
    box = "<draw:page><draw:text-box><text:p>zebra</text:p></draw:text-box></draw:page>"
    document.body.append(odfdo.Element.from_tag(box))
    document.mimetype = f"application/vnd.oasis.opendocument.{'graphics' if kind == 'drawing' else kind}"
    document.save(tmp_path / "a.odt")
    (tmp_path / "a.odt").rename(tmp_path / "a.other")
    assert [own.text for own in FileReader(RowReader()).documents(tmp_path / "a.other", "a", True)] == ["zebra"]


def test_the_number_of_a_note_of_a_book_is_no_part_of_a_word(tmp_path):
    pytest.importorskip("markitdown")
    note = "<p>They roar<sup><a href='n.xhtml#n1'>1</a></sup> at <a href='https://x.org'>2024</a>s"
    note += " <code>zip</code>ped.</p></body>"
    with zipfile.ZipFile(tmp_path / "a.epub", "w") as archive:
        for name, content in EPUB.items():
            archive.writestr(name, content.replace("</body>", note) if name.endswith("html") else content)
    ((_, text, _, _),) = FileReader(RowReader()).documents(tmp_path / "a.epub", "a", True)
    assert text.split()[-6:] == ["They", "roar", "1", "at", "2024s", "zipped."]


def test_a_book_is_not_told_by_its_language_and_number(tmp_path):
    pytest.importorskip("markitdown")
    with zipfile.ZipFile(tmp_path / "a.epub", "w") as archive:
        for name, content in EPUB.items():
            archive.writestr(name, content)
    ((_, text, title, _),) = FileReader(RowReader()).documents(tmp_path / "a.epub", "a", True)
    assert (title, text.split()) == ("Big cats", ["Big", "cats", "Ann", "Ray", "Lions", "hunt", "zebras."])


@pytest.mark.parametrize(("name", "is_read"), [("OEBPS/a.xhtml", False), ("OEBPS/a.html", False), ("a.otf", True)])
def test_a_book_whose_chapters_are_encrypted_is_told(tmp_path, run, name, is_read):
    pytest.importorskip("markitdown")
    reference = f"<enc:CipherData><enc:CipherReference URI='{name}'/></enc:CipherData>"
    with zipfile.ZipFile(tmp_path / "a.epub", "w") as archive:
        for own, content in (EPUB | {"META-INF/encryption.xml": reference}).items():
            archive.writestr(own, content)
    code, _, said = run("index", "a.db", "a.epub")
    assert code == (0 if is_read else 1) and ("its chapters are encrypted" in said) != is_read


def test_files_without_their_library_say_what_to_install(tmp_path, monkeypatch):
    from setsearch.indexing import libraries

    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "pypdf.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path / "libraries")
    file = tmp_path / "a.pdf"  # read by a process of its own: that of other tests has the library
    file.write_bytes(b"%PDF-1.4")
    told, warned = f"{file}: PDF files need pypdf: pip install 'setsearch[pdf]'", list[str]()
    with pytest.raises(setsearch.errors.SourceError) as caught:
        list(FileReader(RowReader(), apart=Reader(59)).documents(file, "a.pdf", True))
    assert str(caught.value) == told
    skipping = FileReader(RowReader("skip", warned.append), apart=Reader(59))
    assert list(skipping.documents(file, "a.pdf", True)) == [] and warned == [f"skipped {told}"]
    with pytest.raises(setsearch.errors.SourceError, match=r"pip install 'setsearch\[office\]'"):
        libraries.load_library("no_such_library", ".docx files", "office")


@pytest.mark.long
def test_a_file_that_takes_too_long_is_left_out(tmp_path, run, monkeypatch):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.html").write_text("<p>lions")
    (tmp_path / "notes" / "b.html").write_text("<p>slow")
    (tmp_path / "notes" / "c.html").write_text("<p>tigers")
    reader = FileReader(RowReader(), apart=Reader(seconds=2.5))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    reader.apart._start = lambda start=reader.apart._start: _with(reader.apart, "slow", "import time; time.sleep(60)")
    found = [
        id for path in reader.folder(tmp_path / "notes").files() for id, *_ in reader.documents(path, path.name, False)
    ]
    assert found == ["a.html", "c.html"]
    ((why, names),) = reader.tally.left_out.items()
    assert "more than 2.5 s" in why and [Path(name).name for name in names] == ["b.html"]
    with pytest.raises(TooMuch, match=r"b\.html takes more than 2\.5 s to read; leave it out"):
        list(reader.documents(tmp_path / "notes" / "b.html", "b.html", True))


def _with(reader, word, action):
    """A process that does something at a page with a word."""
    import subprocess
    import sys

    code = (
        f"import sys; sys.path[:] = {sys.path!r}; import setsearch.indexing.formats.apart as apart\n"
        "read = apart.read_parts\n"
        f"def wrapped(job, *rest):\n    if {word.encode()!r} in job.data: exec({action!r})\n"
        "    return read(job, *rest)\n"
        f"apart.read_parts = wrapped; apart.main({reader.megabytes})"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.mark.skipif(os.name != "posix", reason="the limit of memory is that of POSIX")
def test_a_file_that_takes_too_much_memory_is_named():
    reader = Reader(megabytes=400)
    reader._start = lambda: _with(reader, "large", "b'x' * (1 << 30)")
    with pytest.raises(TooMuch, match=r"a\.html takes more than 400 MB"):
        list(reader.read(Job(b"<p>large", ".html", "a.html")))
    (outcome,) = reader.read(Job(b"<p>small", ".html", "b.html"))
    assert outcome.parts[0].text == "small"
    reader.close()


def test_a_file_apart_is_read_as_here(tmp_path):
    reader = Reader()
    job = Job("<meta charset=latin-1><p>Löwe".encode("latin-1"), ".html", "a.html")
    (outcome,) = reader.read(job)
    assert [part.text for part in outcome.parts] == ["Löwe"]
    (outcome,) = reader.read(Job(b"%PDF-1.4\nbroken", ".pdf", "a.pdf"))
    assert outcome.parts == [] and isinstance(outcome.error, ValueError)
    reader.close()


def _box(words):
    return b"\n".join(
        b"From ann Mon Jan  5 10:00:00 2015\nSubject: %b\n\n%b\n" % (word.encode(), b"tigers " * 20_000)
        for word in words
    )


def test_parts_of_a_large_file_come_little_by_little_and_let_go():
    """Nothing waits for the end, and a file within is read meanwhile; who leaves early leaves nothing behind."""
    reader, words = Reader(), [f"word{n}" for n in range(25)]
    outcomes = list(reader.read(Job(_box(words), ".mbox", "box")))
    assert [part.title for outcome in outcomes for part in outcome.parts] == words
    sizes = [sum(len(part.text) for part in outcome.parts) for outcome in outcomes]
    assert len(sizes) > 3 and max(sizes) < BATCH + 150_000
    assert [outcome.is_last for outcome in outcomes] == [False] * (len(sizes) - 1) + [True]

    begun = reader.read(Job(_box(words[:18]), ".mbox", "box"))
    titles = [part.title for part in next(begun).parts]
    (inner,) = reader.read(Job(b"<p>small", ".html", "b.html"))
    assert inner.parts[0].text == "small"
    titles += [part.title for part in next(begun).parts]
    assert titles == words[: len(titles)]
    begun.close()
    (outcome,) = reader.read(Job(b"<p>other", ".html", "c.html"))
    assert outcome.parts[0].text == "other"
    reader.close()


def test_only_the_time_of_the_file_counts(monkeypatch):
    """Not what is done with its parts; but all that is waited for them."""
    now, reader = [0.0], Reader(seconds=60)
    monkeypatch.setattr(apart.time, "monotonic", lambda: now[0])
    left, timer = [], apart.threading.Timer
    monkeypatch.setattr(apart.threading, "Timer", lambda seconds, end: left.append(seconds) or timer(60, end))
    load = apart.pickle.load

    def slow(pipe):
        """A part takes seven seconds."""
        now[0] += 7
        return load(pipe)

    monkeypatch.setattr(apart.pickle, "load", slow)
    for _ in reader.read(Job(_box("abcdefghijklmnopqrstuvwxyz"), ".mbox", "box")):
        now[0] += 1000
    assert len(left) > 3 and left == [60 - 7 * n for n in range(len(left))]
    reader.close()


@pytest.mark.skipif(os.name != "posix", reason="the limit of memory is that of POSIX")
def test_what_came_before_a_part_that_takes_too_much_counts(tmp_path):
    """As before an error; the note tells that there was more."""
    (tmp_path / "box.mbox").write_bytes(_box([f"word{n}" for n in range(20)]))
    reader = FileReader(RowReader("skip"), apart=Reader(megabytes=400))
    action = "import setsearch.indexing.formats.mail as own\ndef parts(data, *more, read=own._parts):\n"
    action += " return read(data if b'word15' not in data else bytes(1 << 30), *more)\nown._parts = parts"
    reader.apart._start = lambda: _with(reader.apart, "word15", action)
    found = [item.title for item in reader.documents(tmp_path / "box.mbox", "box", False)]
    assert found and found == [f"word{n}" for n in range(len(found))] and len(found) <= 15
    (why,) = reader.tally.left_out
    assert "400 MB to read" in why and reader.tally.failed == {"box"}


def test_a_file_is_unpacked_by_its_beginning(run, tmp_path):
    import gzip

    (tmp_path / "a.txt").write_bytes(gzip.compress(b"lions"))
    (tmp_path / "b.jsonl").write_bytes(gzip.compress(b'{"id": 1, "text": "tigers"}\n'))
    assert run("index", "a.db", "a.txt", "b.jsonl")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert set(index.items("documents").features_of("a.txt")) == {"lions"}
        assert set(index.items("documents").features_of("1")) == {"tigers"}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# On [[Lions]] and [[big/cats#Fur|their fur]]\n\nroar", "On Lions and their fur"),
        ("---\ntitle: '[[Lions]]'\n---\nroar", "Lions"),
        ("#+TITLE: the [[https://x.org][site]]\nroar", "the site"),
        ("if [[ -f lions ]]; then roar", "if [[ -f lions ]]; then roar"),
        ("m = [[1, 2], [3, 4]] of lions", "m = [[1, 2], [3, 4]] of lions"),
    ],
)
def test_titles_have_no_brackets_of_links(text, title, tmp_path, run):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / f"one.{'org' if text.startswith('#+') else 'md'}").write_text(text)
    assert run("index", "a.db", "a")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert title in index.items("documents").titles(["one.md", "one.org"]).values()


def test_broken_rows_of_a_folder_are_told_once(tmp_path, run):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.jsonl").write_text('{"id": 1\n{"id"\n')
    (tmp_path / "a" / "b.txt").write_text("lion tiger")
    code, _, said = run("index", "a.db", "a")
    assert code == 0 and said.count("skipped a/a.jsonl, line 1") == said.count("skipped a/a.jsonl, line 2") == 1, said


def test_a_broken_pdf_says_what_to_do(tmp_path, run, failed):
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(tmp_path / "whole.pdf")
    (tmp_path / "half.pdf").write_bytes((tmp_path / "whole.pdf").read_bytes()[:200])
    writer.encrypt("secret")
    writer.write(tmp_path / "locked.pdf")
    failed(run("index", "a.db", "locked.pdf"), 1, "it opens with a password; save it without one; leave it out")
    failed(run("index", "a.db", "half.pdf"), 1, "); fetch it again, or print it to a new PDF; leave it out, or pass")
