"""Chats of WhatsApp, Telegram, Messenger, Discord and Slack: a day is a document, and no message is lost."""

import json
import shutil
from html import escape
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch.indexing.formats import chats, form_of
from setsearch.indexing.formats.part import Part, Unread
from setsearch.indexing.formats.text import plain_text

words = st.text(st.sampled_from("abc ü🍕\n:-"), min_size=1, max_size=12).map(str.strip).filter(bool)
said = st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["Ann", "Bob Müller"]), words), min_size=1, max_size=8)


def days(messages, day):
    """The documents that messages, in the order of their days, make."""
    grouped = groupby(messages, key=lambda own: own[0])
    return {day(number): "\n".join(f"{who}: {what}" for _, who, what in own) for number, own in grouped}


def read(data, ending):
    """The documents of a file by day, and how many messages have no words."""
    form = form_of(data, ending)
    assert form in (chats.whatsapp, chats.exported)
    parts = [*form(data, bytes.decode)]
    return {own.key: own.text for own in parts if isinstance(own, Part)}, sum(
        own.number for own in parts if isinstance(own, Unread)
    )


@examples(100)
@given(messages=said.map(sorted))
def test_a_day_has_what_was_said(messages):
    dashes = "".join(f"0{day}/03/2024, 9:15\u202fPM - {who}: {what}\n" for day, who, what in messages)
    assert read(dashes.encode(), ".txt") == (days(messages, "0{}/03/2024".format), 0)
    brackets = "".join(f"\u200e[{day}.03.24, 09:15:22] {who}: {what}\r\n" for day, who, what in messages)
    assert read(brackets.encode(), ".txt") == (days(messages, "{}.03.24".format), 0)
    times = [(f"2024-03-0{day}T09:15:00", who, what) for day, who, what in messages]
    telegram = [{"date": time, "from": who, "from_id": "user1", "text": what} for time, who, what in times]
    found = read(json.dumps({"name": "Pier", "messages": telegram}).encode(), ".json")
    assert found == (days(messages, "Pier 2024-03-0{}".format), 0)
    discord = [{"timestamp": time, "author": {"name": who}, "content": what} for time, who, what in times]
    whole = {"guild": {}, "channel": {"name": "Pier"}, "messages": discord[::-1][::-1]}
    assert read(json.dumps(whole).encode(), ".json") == found
    slack = [
        {"type": "message", "user": who, "text": escape(what, False), "ts": f"{1709283900 + 86400 * (day - 1)}.0002"}
        for day, who, what in messages
    ]
    assert read(json.dumps(slack).encode(), ".json") == (days(messages, "2024-03-0{}".format), 0)


def test_polls_of_telephones_are_words():
    """Those of Apple begin as what nobody typed does."""
    poll = "POLL:\nWhere to?\n{0}OPTION: the pier ({0}2 votes)\n"
    android, apple = f"12/03/2024, 09:15 - Ann: {poll.format('')}", "[12.03.24, 09:15:22] ~\u202fAnn: \u200e" + poll
    said = "Ann: POLL:\nWhere to?\nOPTION: the pier (2 votes)"
    assert read(android.encode(), ".txt") == ({"12/03/2024": said}, 0)
    assert read(apple.format("\u200e").encode(), ".txt") == ({"12.03.24": said}, 0)


def test_what_nobody_typed_is_counted():
    chat = (
        "12/03/2024, 09:15 - Messages and calls are end-to-end encrypted.\n"
        "12/03/2024, 09:16 - Ann: <Media omitted>\n12/03/2024, 09:17 - Ann: IMG-1.jpg (file attached)\n"
        "12/03/2024, 09:18 - Ann: \u200eimage omitted\n12/03/2024, 09:19 - Bob: see (the) pier\n"
    )
    assert read(chat.encode(), ".txt") == ({"12/03/2024": "Bob: see (the) pier"}, 4)


def test_pieces_of_a_message_are_one_text_and_an_account_has_several_chats():
    pieces = ["see ", {"type": "link", "text": "https://pier.org"}, " now"]
    message = {"date": "2024-03-01T01:00:00", "from": "Ann", "from_id": "user1", "text": pieces}
    call = {"date": "2024-03-01T02:00:00", "actor": "Ann", "actor_id": "user1", "action": "phone_call", "text": ""}
    deleted = {"date": "2024-03-01T03:00:00", "from": None, "from_id": "user2", "text": "bye"}
    one = {"name": "Pier", "messages": [message, call]}
    assert read(json.dumps(one).encode(), ".json") == ({"Pier 2024-03-01": "Ann: see https://pier.org now"}, 1)
    about = "Here is the data you requested. Remember: ..."
    account = {"about": about, "chats": {"list": [one, {"name": None, "messages": [deleted]}]}}
    assert read(json.dumps(account).encode(), ".json")[0] == {
        "Pier 2024-03-01": "Ann: see https://pier.org now",
        "2024-03-01": ": bye",
    }


def test_polls_and_what_links_show_are_words():
    answers = [{"text": "on Saturday", "voters": 1}, {"text": "never", "chosen": True}]
    poll = {"question": "When do we sail?", "closed": False, "answers": answers}
    telegram = [{"date": "2024-03-01T01:00:00", "from": "Ann", "from_id": "user1", "text": "", "poll": poll}]
    found = read(json.dumps({"messages": telegram}).encode(), ".json")
    assert found == ({"2024-03-01": "Ann: When do we sail?\non Saturday\nnever"}, 0)
    rows = [{"name": "Time", "value": "two days", "isInline": False}]
    embed = {
        "title": "A mast",
        "url": "https://x.org",
        "description": "Epoxy",
        "fields": rows,
        "footer": {"text": "by us"},
    }
    discord = [
        {
            "timestamp": "2024-03-01T01:00:00",
            "author": {"name": "bot"},
            "content": own,
            "embeds": [embed],
            "mentions": [poll],
        }
        for own in ("see", "")
    ]
    found = read(json.dumps({"guild": {}, "messages": discord}).encode(), ".json")
    shown = "A mast\nEpoxy\nTime\ntwo days\nby us"
    assert found == ({"2024-03-01": f"bot: see\n{shown}\nbot: {shown}"}, 0)
    odd = [
        {"timestamp": "1", "author": {"name": "bot"}, "content": "x", "embeds": own} for own in (None, 5, [None, [5]])
    ]
    assert read(json.dumps({"guild": {}, "messages": odd}).encode(), ".json") == ({"1": "\n".join(["bot: x"] * 3)}, 0)


def test_messenger_writes_bytes_as_characters():
    garbled, pizza = ("Müller".encode().decode("latin-1"), "🍕".encode().decode("latin-1"))
    message = {"sender_name": garbled, "timestamp_ms": 1710234900000, "content": pizza}
    whole = {"participants": [{"name": garbled}], "messages": [message], "title": garbled}
    assert read(json.dumps(whole).encode(), ".json")[0] == {"Müller 2024-03-12": "Müller: 🍕"}


def test_what_an_export_may_have_besides_is_no_error():
    late = {"sender_name": "Ann", "timestamp_ms": 10**17, "content": "late", "from_id": "user1"}
    of_number = {"name": 5, "messages": [late, None]}
    account = {"about": "Here is the data you requested", "chats": {"list": [None, {"messages": None}, of_number]}}
    assert read(json.dumps(account).encode(), ".json") == ({"5 1000000000": "Ann: late"}, 1)
    odd = [
        {"ts": own, "text": "<@U1>", "user": "U1", "subtype": None, "user_profile": []} for own in ([], {}, None, "x")
    ]
    slack = [{"type": "message", "ts": "1710234900.0", "text": None, "user": None}, *odd, None]
    for whole in (slack, {"messages": slack, "people": {"U1": 5}}):
        form = json.dumps(whole).encode()
        assert chats.with_people(form, {}).count(b"U1") == form.count(b"U1")
        documents, count = read(form, ".json")
        assert count == 2 and " ".join(documents.values()).count("5: 5" if whole != slack else "U1: U1") == len(odd)


@pytest.mark.parametrize(
    "text",
    [
        "[2024-03-12 09:15:22] app: started",
        "12/03/2024 09:15:22 - app: started",
        "12/03/2024, 09:15 - went to the pier",
        "A note\n12/03/2024, 09:15 - Ann: lunch",
        "12/03/2024, 09:15 - at sea\n13/03/2024, 09:15 - met Ann: tall\n14/03/2024, 09:15 - slept",
        "2024-03-12 09:15 - started\n2024-03-12 09:16 - listening\n2024-03-12 09:17 - error: full",
    ],
)
def test_logs_and_diaries_are_texts(text):
    assert form_of(text.encode(), ".txt") is plain_text


SAID = [
    {"type": "message", "user": "U012AB3CD", "ts": "1710234900.000200", "user_profile": {"real_name": "Ann Lee"}}
    | {"text": "hello <@U0BOB4567> &amp; <@U0GONE123|Eve>, see <https://pier.org|the pier> <!here> <#C0PIER|quay>"},
    {
        "type": "message",
        "user": "U0BOB4567",
        "ts": "1710234901.0",
        "text": "<@U0BOB4567> joined",
        "subtype": "channel_join",
    },
    {"type": "message", "user": "U0BOB4567", "ts": "1710234902.0", "text": "to <@U012AB3CD>: <https://sea.org>"},
    {"type": "message", "subtype": "bot_message", "username": "clock", "ts": "odd", "text": "tick"},
]


def test_people_of_slack_have_names(tmp_path, run):
    folder = tmp_path / "export"
    (folder / "quay").mkdir(parents=True)
    (folder / "quay" / "2024-03-12.json").write_text(json.dumps(SAID))
    ids = "Ann Lee: hello U0BOB4567 & Eve, see the pier here quay\nU0BOB4567: to Ann Lee: https://sea.org"
    assert read(json.dumps(SAID).encode(), ".json") == ({"2024-03-12": ids, "odd": "clock: tick"}, 1)
    people = [{"id": "U0BOB4567", "profile": {"real_name": "Bob Stone"}}, {"id": "U0GONE123"}, None]
    for data in (b"\xff[", b"{}", json.dumps(people).encode()):
        (folder / "users.json").write_bytes(data)
        code, _, err = run("index", "a.db", "export")
        is_told = "export/users.json cannot be read, so messages have ids for people" in err
        assert code == 0 and is_told != data.startswith(b"[")
        with setsearch.open(tmp_path / "a.db") as index:
            found = index.items("documents").features_of("quay/2024-03-12.json#2024-03-12")
        assert "ann" in found and ("stone" in found) == data.startswith(b"[")
    assert "u0bob4567" not in found
    shutil.make_archive(str(tmp_path / "packed"), "zip", folder)
    (folder / "quay" / "2024-03-12.json").rename(tmp_path / "one.json")
    for name, count in (("packed.zip", 2), ("one.json", 2)):
        assert f"indexed {count};" in run("index", f"{name}.db", name)[2]
    with setsearch.open(tmp_path / "packed.zip.db") as index:
        assert index.items("documents").features_of("quay/2024-03-12.json#2024-03-12") == found
    assert "indexed 4;" in run("index", "rows.db", "one.json", "--text", "text")[2], "columns are of rows"


def test_what_programs_say_in_slack_are_words():
    """In blocks, which say nothing new where there is a text; and what is in a file."""
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "build <https://ci.org|failed> &amp; stopped"}}
    line = {"type": "rich_text_section", "elements": [{"type": "text", "text": "ask Ann"}]}
    blocks = [section, {"type": "section", "fields": [{"text": "in 5 min"}]}, {"type": "rich_text", "elements": [line]}]
    attached = [{"author_name": "CI", "fallback": "no preview", "blocks": [section]}]
    files = [{"name": "a.png", "title": "a.png"}, {"name": "a.txt", "title": "The log", "preview": "exit 1"}]
    found = [
        {"ts": "1710234900.1", "subtype": "bot_message", "text": "", "blocks": blocks, "bot_profile": {"name": "bot"}},
        {"ts": "1710234901.1", "user": "ann", "text": "ok", "blocks": [line], "files": files},
        {"ts": "1710234902.1", "user": "bob", "text": "", "attachments": attached},
        {"ts": "1710234903.1", "user": "bob", "text": "", "files": files[:1]},
    ]
    data = json.dumps([{"type": "message"} | own for own in found]).encode()
    build = "build failed & stopped"
    said = f"bot: {build}\nin 5 min\nask Ann\nann: ok\nThe log\nexit 1\nbob: CI\n{build}"
    assert read(data, ".json") == ({"2024-03-12": said}, 1)


def test_what_slack_has_beside_messages_is_no_document(tmp_path, run):
    folder = tmp_path / "export"
    (folder / "quay").mkdir(parents=True)
    (folder / "other").mkdir()
    days = {"2024-03-12": SAID, "2024-03-13": [], "2024-03-14": SAID[:1]}
    files = {f"quay/{day}.json": said for day, said in days.items()}
    files |= {
        "quay/2024-03-11.json": [],
        "users.json": [],
        "channels.json": [{"id": "C1", "name": "quay"}],
        "other/users.json": [{"id": "a user"}],
    }
    for name, data in files.items():
        (folder / name).write_text(json.dumps(data))
    code, _, err = run("index", "a.db", "export")
    assert code == 0 and "left out 2 files (export/quay/2024-03-11.json, export/quay/2024-03-13.json): empty\n" in err
    assert "left out 2 files (export/channels.json, export/users.json): what Slack has beside its channels\n" in err
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        assert documents.item_count() == 4 and documents.find("other/users.json")


def test_the_command(tmp_path, run):
    (tmp_path / "in" / "b").mkdir(parents=True)
    (tmp_path / "in" / "a.txt").write_text("a note")
    message = {"id": 1, "date": "2024-03-12T01:00:00", "from": "Ann", "from_id": "user1", "text": "the pier"}
    for name in ("a", "b/a"):
        (tmp_path / "in" / f"{name}.json").write_text(json.dumps({"messages": [message]}))
    assert run("index", "a.db", "in/a.txt")[0] == 0
    (tmp_path / "in" / "a.txt").write_text("12/03/2024, 09:15 - Ann: lunch\n12/03/2024, 09:16 - Ann: <Media omitted>\n")
    code, _, err = run("index", "a.db", "in")
    assert code == 0 and "1 message of chats without words" in err and "setsearch delete a.db a.txt" in err
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        assert documents.features_of("a.txt#12/03/2024") == {"ann": 1, "lunch": 1}
        assert documents.features_of("a.json#2024-03-12") == {"ann": 1, "the": 1, "pier": 1}
        assert documents.find("b/a.json#2024-03-12")
    assert run("index", "rows.db", "in/a.json", "--text", "text")[0] == 0  # columns are of rows
    with setsearch.open(tmp_path / "rows.db") as index:
        assert index.items("documents").features_of("1") == {"the": 1, "pier": 1}
