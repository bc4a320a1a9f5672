"""Mail: files that are attached, and who wrote to whom, as columns, fields, items and groups."""

import gc
import io
import tarfile
import zipfile
from email.message import EmailMessage

import pytest

import setsearch
from setsearch.indexing import files as files_module
from setsearch.indexing.files import FileReader
from setsearch.indexing.formats import mail
from setsearch.indexing.formats.part import Attached, Part, Unread
from setsearch.indexing.rows import archives, opening
from setsearch.indexing.rows.reader import RowReader

DOCX = "application", "vnd.openxmlformats-officedocument.wordprocessingml.document"


def zipped(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def message(sender, to, text, day=5, files=()):
    own = EmailMessage()
    own["From"], own["To"], own["Subject"] = sender, to, text.split()[0]
    own["Date"] = f"Mon, {day:02} Jan 2015 10:00:00 +0000"
    own.set_content(text)
    for name, data, kind in files:
        own.add_attachment(data, maintype=kind[0], subtype=kind[1], filename=name)
    return bytes(own)


PAGE = b"<html><title>Account</title><body>money of the island</body></html>"
PLAIN = "application", "octet-stream"


def test_attached_files_are_documents_of_their_own(tmp_path, run):
    inner = message("c@x.org", "d@x.org", "forwarded lions", files=[("deep.html", PAGE, PLAIN)])
    files = [
        ("../Größe 1.html", PAGE, PLAIN),
        ("a.html", PAGE, PLAIN),
        ("a.html", PAGE, PLAIN),
        ("inner.eml", inner, PLAIN),
        ("rows.csv", b"id,text\n1,a\n", PLAIN),
        ("rows.json", b'[{"id": 1, "text": "a"}]', PLAIN),
        ("pack.zip", zipped(a="words"), ("application", "zip")),
        ("broken.docx", b"PK\3\4 cut off", DOCX),
        ("photo.html", b"\x89PNG\0", ("image", "png")),
        ("smime.p7s", b"0123", ("application", "pkcs7-signature")),
    ]
    data = message("Ann <ANN@x.org>", "b@x.org", "tigers\nand cats", files=files)
    (tmp_path / "a.eml").write_bytes(data)
    (tmp_path / "box").write_bytes(b"From ann Mon Jan  5 10:00:00 2015\n" + data)
    code, _, said = run("index", "a.db", "a.eml", "box")
    assert code == 0, said
    names = ["", "#Größe 1.html", "#a.html", "#a.html (2)", "#inner.eml", "#inner.eml#deep.html", "#pack.zip/a"]
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        ids = [f"{file}{name}" for file in ("a.eml", "box#1") for name in names]
        assert documents.titles(ids) == dict(
            zip(ids, ["tigers", "Account", "Account", "Account", "forwarded", "Account", "words"] * 2, strict=True)
        )
        assert "money" in documents.features_of("a.eml#inner.eml#deep.html")
        assert documents.features_of("a.eml#pack.zip/a") == {"words": 1}
    assert "left out 4 files (a.eml#rows.csv, a.eml#rows.json, box#1#rows.csv, ...): tables in mail" in said
    assert "skipped a.eml#broken.docx" in said
    assert "not read: 4 parts of mail" in said
    assert "indexed 14;" in said


def test_archives_in_mail_are_bounded(tmp_path, run, monkeypatch):
    """A bomb costs itself, and what else the mail would unpack; an archive in itself has an end."""
    inner = zipped(**{"deep.txt": "bears"})
    for _ in range(7):
        inner = zipped(**{"in.zip": inner, "own.txt": "lynx"})
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as archive:
        for name in ("../out.txt", "in.txt"):
            info = tarfile.TarInfo(name)
            info.size = 6
            archive.addfile(info, io.BytesIO(b"tigers"))
    packs = {"nest.zip": inner, "a.tgz": tar.getvalue(), "cut.zip": zipped(a="lions")[:-9]}
    packs |= {"bomb.zip": zipped(**{"x.txt": "lion " * 99_999}), "late.zip": zipped(**{"y.txt": "wheat"})}
    files = [(name, data, PLAIN) for name, data in packs.items()]
    (tmp_path / "a.eml").write_bytes(message("a@x.org", "b@x.org", "lions", files=files))
    monkeypatch.setattr(archives, "MOST_UNPACKED", 1 << 18)
    code, _, said = run("index", "a.db", "a.eml", "--keep-columns", "from")
    assert code == 0 and "setsearch-" not in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        rows = {row["id"]: row for row in index.export()}
    deeper = "".join("/in.zip" for _ in range(4))
    nested = [f"a.eml#nest.zip{deeper[: 7 * depth]}/own.txt" for depth in range(4)]
    assert sorted(rows) == sorted(["a.eml", "a.eml#a.tgz/in.txt", *nested]) and rows[nested[3]]["from"] == "a@x.org"
    ends = ", ".join(f"a.eml#nest.zip{deeper}/{name}" for name in ("in.zip", "own.txt"))
    assert f"left out 2 files ({ends}): what is in too many files" in said
    assert "left out 1 file (a.eml#cut.zip): archives that break off" in said
    assert "left out 1 file (a.eml#a.tgz/member): names that lead out of their archive" in said
    for name in ("bomb", "late"):
        assert f"skipped a.eml#{name}.zip unpacks to more than 0 MB; unpack it" in said


def test_a_document_that_is_kept_in_an_archive_is_no_archive(tmp_path, run):
    drawing = zipped(**{"[Content_Types].xml": "<types/>", "visio/page.xml": "<page>lions</page>"})
    files = [("plan.vsdx", drawing, PLAIN), ("plan.zip", drawing, PLAIN), ("plan", zipped(x="wolves"), PLAIN)]
    files.append(("page.zip", b"<html>please log in", PLAIN))
    (tmp_path / "a.eml").write_bytes(message("ann@x.org", "bob@x.org", "wheat", files=files))
    assert run("index", "a.db", "a.eml")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert sorted(row["id"] for row in index.export()) == ["a.eml", "a.eml#page.zip", "a.eml#plan/x"]


def test_an_archive_that_finds_no_room_costs_itself(tmp_path, run, monkeypatch):
    """It is told by its name, the rest of the mail is read, and --replace keeps what was there of it."""
    packs = [("a.zip", zipped(x="wolves"), PLAIN), ("b.txt", b"tigers", PLAIN)]
    (tmp_path / "a.eml").write_bytes(message("a@x.org", "b@x.org", "lions", files=packs))
    assert run("index", "a.db", "a.eml")[0] == 0

    def full(path, data):
        raise OSError(28, "No space left on device", None if path.name == "attached.zip" else str(path))

    monkeypatch.setattr(files_module.Path, "write_bytes", full)
    code, _, said = run("index", "a.db", "a.eml", "--replace")
    assert code == 0 and "skipped a.eml#a.zip cannot be unpacked into the folder of temporary files (No space" in said
    with setsearch.open(tmp_path / "a.db") as index:
        assert sorted(row["id"] for row in index.export()) == ["a.eml", "a.eml#a.zip/x", "a.eml#b.txt"]


def test_names_that_a_sender_chose_cost_no_file(tmp_path, run):
    box = b"From a@x Mon Jan  5 10:00:00 2015\nSubject: lynx\n\npards\n"
    names = ["a.txt", "a.txt", "a.txt (2)", "a.txt", "a #1 #2 #3 #4 #5 #6.txt", "box.mbox#1", "box.mbox"]
    files = [(name, box if name == "box.mbox" else b"tigers", PLAIN) for name in names]
    folder = tmp_path / "f" / "#1#2#3" / "#4#5#6"
    folder.mkdir(parents=True)
    (folder / "a.eml").write_bytes(message("a@x.org", "b@x.org", "lions", files=files))
    code, _, said = run("index", "a.db", "f")
    assert code == 0 and "left out" not in said, said
    inner = ["a.txt", "a.txt (2)", "a.txt (2) (2)", "a.txt (3)", *names[4:6], "box.mbox#1 (2)"]
    with setsearch.open(tmp_path / "a.db") as index:
        ids = [f"#1#2#3/#4#5#6/a.eml{name}" for name in ["", *(f"#{own}" for own in inner)]]
        assert sorted(row["id"] for row in index.export()) == sorted(ids)


@pytest.mark.parametrize(("room", "names"), [(30, ["a", "b"]), (29, ["a"]), (9, []), (-9, [])])
def test_a_large_mailbox_is_read_with_the_attached_files_that_fit(monkeypatch, room, names):
    files = [(name, b"x" * size, PLAIN) for name, size in (("a", 10), ("b", 20))]
    own = b"".join(b"From a Mon Jan  5 10:00:00 2015\n" + message("a@x", "b@x", "lions", files=[f]) for f in files)
    monkeypatch.setattr(mail, "MOST_HELD", len(own) + room)
    parts = [*mail.mailbox(own, bytes.decode)]
    assert [part.key for part in parts if isinstance(part, Part)] == ["1", "2"]
    assert [part.name for part in parts if isinstance(part, Attached)] == names
    assert sum(part.number for part in parts if isinstance(part, Unread)) == 2 - len(names)


def test_mail_within_mail_ends(tmp_path, run):
    data = b"Subject: innermost\n\nlions\n"
    for level in range(12):
        data = message("a@x.org", "b@x.org", f"level{level} tigers", files=[("a.eml", data, PLAIN)])
    (tmp_path / "a.eml").write_bytes(data)
    code, _, said = run("index", "a.db", "a.eml")
    assert code == 0 and "what is in too many files" in said and "indexed 6;" in said, said


@pytest.fixture
def letters(tmp_path):
    """A folder of mail among three people, a text, and a message with broken headers."""
    folder = tmp_path / "letters"
    folder.mkdir()
    for n in range(6):
        to = "Bob <bob@x.org>, Cy <cy@x.org>" if n % 2 else "BOB@x.org"
        (folder / f"{n}.eml").write_bytes(message("Éva Ö <ann@x.org>", to, f"tigers{n} and lions", day=n + 1))
    (folder / "note.txt").write_text("a note about lions")
    (folder / "broken.eml").write_bytes(b"From: [,\xa0\nTo: ,,\nDate: never\nSubject: x\nMIME-Version: 1.0\n\nbears\n")
    return folder


def test_people_and_days_of_mail_are_columns_and_fields(letters, tmp_path, run):
    options = "--tags", "people", "--numbers", "date", "--keep-columns", "from,to,date"
    code, _, said = run("index", "a.db", "letters", *options)
    assert code == 0 and "indexed 8;" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        assert {"people:ann@x.org", "people:bob@x.org", "people:cy@x.org"} < {*documents.features_of("1.eml")}
        hits = documents.expand(["1.eml", "3.eml"], 1, filter=["date >= 2015-01-06"])
        assert [(hit.item, hit.columns["from"], hit.columns["to"]) for hit in hits] == [
            ("5.eml", "ann@x.org", ["bob@x.org", "cy@x.org"])
        ]
    assert run("index", "a.db", "letters", "--glob", "5.eml")[0] == 0, "columns and fields stay"
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").expand(["1.eml", "3.eml"], 1, filter=["date >= 2015-01-06"])[0].columns["date"]


def test_people_are_items_by_whom_they_share_messages_with(letters, tmp_path, run):
    assert run("index", "a.db", "letters", "--items", "id", "--features", "people")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("people").features_of("cy@x.org") == {"1.eml": 1, "3.eml": 1, "5.eml": 1}
    code, _, said = run("index", "b.db", "letters/1.eml", "letters/2.eml", "--items", "from", "--features", "to")
    assert code == 0, said
    with setsearch.open(tmp_path / "b.db") as index:
        assert index.items("from").features_of("ann@x.org") == {"bob@x.org": 2, "cy@x.org": 1}


def test_all_mail_of_a_sender_is_one_item(letters, tmp_path, run):
    code, _, said = run("index", "a.db", "letters", "--group-by", "from")
    assert code == 0 and "not read: 2 documents without 'from'" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        assert {"tigers0", "tigers5"} < {*index.items("from").features_of("ann@x.org")}


def test_a_column_that_mail_has_not_names_those_that_it_has(letters, run, failed):
    own = "no document has a column 'form' beside its text, but date, from, people, to"
    failed(run("index", "a.db", "letters/1.eml", "--tags", "from", "--tags", "form"), 1, own)
    failed(run("index", "a.db", "letters/note.txt", "--tags", "from"), 1, "no document has a column 'from' beside")


def test_a_broken_message_costs_no_other_one(tmp_path, run, failed):
    """The library raises at a character set with a NUL."""
    broken = (
        b'From: a@x.org\nSubject: bears\nMIME-Version: 1.0\nContent-Type: text/plain; charset="a\0b"\n'
        b"Content-Transfer-Encoding: 8bit\n\nbody \xff\n"
    )
    begin = b"From ann Mon Jan  5 10:00:00 2015\n"
    sound = [begin + message("a@x.org", "b@x.org", f"{word} of the box") for word in ("lions", "tigers")]
    (tmp_path / "box").write_bytes(b"\n".join([sound[0], begin + broken, sound[1]]))
    code, _, said = run("index", "a.db", "box")
    assert code == 0 and "indexed 2;" in said and "not read: 1 broken message\n" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").titles(["box#3"]) == {"box#3": "tigers"}
    (tmp_path / "b.eml").write_bytes(broken)
    failed(run("index", "b.db", "b.eml"), 1, "b.eml", "its headers are broken (embedded null character)")


def test_comments_in_comments_cost_no_message(tmp_path, run):
    deep = b"(" * 5_000
    begin, own = (
        b"From ann Mon Jan  5 10:00:00 2015\n",
        message("a@x.org", "b@x.org", "lions", files=[("a", b"cats", PLAIN)]),
    )
    broken = [
        own.replace(b"To: b@x.org", b"To: " + deep),
        own.replace(b"attachment;", b"attachment; " + deep),
        b"Subject: bears\n" + b"Content-Type: message/rfc822\n\n" * 3_000,
    ]
    (tmp_path / "a.eml").write_bytes(broken[0])
    (tmp_path / "box").write_bytes(b"\n".join(begin + data for data in (own, *broken, own)))
    code, _, said = run("index", "a.db", "box", "a.eml", "--keep-columns", "to")
    assert code == 0 and "not read: 1 broken message, 1 part of mail\n" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        ids = ["a.eml", "a.eml#a", "box#1", "box#1#a", "box#2", "box#2#a", "box#3", "box#5", "box#5#a"]
        assert sorted(row["id"] for row in index.export()) == ids


def test_a_folder_is_no_file_of_sets(letters, run, failed):
    assert run("index", "a.db", "letters")[0] == 0
    failed(run("set", "import", "a.db", "letters"), 1, "letters")
    failed(run("index", "b.db", "", "--items", "from", "--features", "to"), 1)


def test_the_bytes_of_a_mailbox_are_let_go_while_it_is_read(tmp_path, monkeypatch):
    """They are in the process apart, which has a copy."""
    begin, text = b"From ann Mon Jan  5 10:00:00 2015\n", "tigers " * 20_000
    files = [("a.html", PAGE, PLAIN)]
    box = [begin + message("a@x.org", "b@x.org", f"lions{n} {text}", files=files) for n in range(20)]
    (tmp_path / "box").write_bytes(b"\n".join(box))
    gone = list[int]()

    class Held(bytes):
        """Bytes that tell when they are let go."""

        def __reduce__(self):
            return bytes, (bytes(self),)

        def __del__(self):
            gone.append(len(self))

    def read(*given):
        return Held(opening.read_whole(*given))

    monkeypatch.setattr(files_module, "read_whole", read)
    found = FileReader(RowReader()).documents(tmp_path / "box", "box", True)
    ids = [next(found).id]
    gc.collect()
    assert gone == [(tmp_path / "box").stat().st_size]
    ids += [item.id for item in found]
    assert ids == [own for n in range(1, 21) for own in (f"box#{n}", f"box#{n}#a.html")]


@pytest.mark.parametrize(
    ("plain", "page", "said"),
    [
        ("At zoo.org", "<style>p {color: red}</style><p>Lions rest in the shade", "Lions rest in the shade"),
        ("Lions and tigers rest", "<p>Lions and <b>tigers</b> rest <i>well</i>", "Lions and tigers rest\n"),
        ("Львы", "<p>Львы и тигры спят", "Львы и тигры спят"),
        (" ", "<p>Lions", "Lions"),
    ],
)  # fmt: skip
def test_of_several_ways_to_say_the_same_one_that_says_much_more_is_read(plain, page, said):
    """Otherwise the plain one; a file that is attached to the other counts, as Apple's Mail writes it."""
    own = EmailMessage()
    own.set_content(plain)
    own.add_alternative(page, subtype="html")
    html = own.get_payload(1)
    html.make_mixed()
    html.add_attachment(b"Zebras", maintype="text", subtype="plain", filename="a.txt")
    html.add_attachment(b"PNG", maintype="image", subtype="png", filename="a.png")
    part, *others = mail.mail(bytes(own), bytes.decode)
    assert part.text == said
    assert [other.data for other in others if isinstance(other, Attached)] == [b"Zebras"]


def test_a_page_for_programs_says_no_more_than_one_for_people():
    """AMP, whose styles would be words."""
    own = EmailMessage()
    own.set_content("Lions")
    own.add_alternative(
        "<style amp4email>body {visibility: hidden; color: red; display: block}</style><p>Lions rest</p>",
        subtype="x-amp-html",
    )
    own.add_alternative("<p>Lions rest in the shade</p>", subtype="html")
    (part,) = mail.mail(bytes(own), bytes.decode)
    assert part.text == "Lions rest in the shade"
