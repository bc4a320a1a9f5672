"""How the tables of a database could be indexed: the commands that are suggested, and that they run."""

import csv
import json
import os
import shlex
import sqlite3
import subprocess
from contextlib import closing
from shutil import which

import pytest

import setsearch
from setsearch.indexing import suggest
from setsearch.sqlite.sql import Table


def application(path):
    """Articles by authors, with categories, a year, an array, tags and citations in other tables; and other tables."""
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        create table authors (id integer primary key, name text);
        create table articles (id integer primary key, title text, body text, kind text, words text, year integer,
            open integer, author integer references authors (id), code text);
        create table tagged (article integer references articles (id), tag text, primary key (article, tag));
        create table cites (id integer primary key, citing integer references articles,
            cited integer references articles);
        create table pairs (a integer, b integer, note text, primary key (a, b));
        create virtual table found using fts5 (body);
        """
    )
    for n in range(40):
        row = (
            n,
            f"Paper {n}",
            f"a text of paper number {n}",
            f"kind {n % 3}",
            json.dumps(["x", f"y{n % 5}"]),
            1980 + n,
        )
        connection.execute("insert into articles values (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, n % 2, n % 4, f"c{n}"))
        connection.execute("insert into tagged values (?, ?)", (n, f"t{n % 7}"))
        connection.execute("insert into cites (citing, cited) values (?, ?)", (n, (n + 1) % 40))
    connection.executemany("insert into authors values (?, ?)", [(n, f"Author {n}") for n in range(4)])
    connection.commit()
    connection.close()


def test_tables_with_texts_are_suggested_with_all_that_describes_their_rows(tmp_path, run):
    application(tmp_path / "app.db")
    before = (tmp_path / "app.db").read_bytes()
    code, out, said = run("index", "app.db", "--suggest")
    articles, authors = (
        "setsearch index app.db --table articles --id id --title title --text body --tags kind "
        "--tags words --numbers year --tags articles.id=author,authors.id=name --links cites.citing=cited "
        "--links cites.cited=citing "
        "--tags tagged.article=tag --track --collection articles",
        "setsearch index app.db --table authors --id id --title name --text name --track --collection authors",
    )
    assert (code, out.splitlines(), said) == (0, [articles, authors], "")
    assert (tmp_path / "app.db").read_bytes() == before
    for line in (articles, authors):
        code, _, said = run(*shlex.split(line)[1:])
        assert code == 0, said
    with setsearch.open(tmp_path / "app.db", collection="articles") as index:
        reading = index.items("articles/documents")
        assert {*reading.defaults.fields} == {"text", "cited", "citing", "tag", "kind", "words", "author", "year"}
        assert reading.expand(["3"], 1, by="cited")[0].item in ("2", "4")
        assert "author:Author 3" in reading.features_of("3")
        assert index.check() == []


def test_texts_of_another_table_are_no_tags_and_names_there_no_documents(tmp_path, run):
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.executescript(
            """
            create table articles (id integer primary key, body text);
            create table comments (id integer primary key, article integer references articles, body text);
            create table keywords (article integer references articles, word text);
            """
        )
        for n in range(40):
            connection.execute("insert into articles values (?, ?)", (n, f"a text of some words {n}"))
            connection.execute("insert into comments values (?, ?, ?)", (n, n % 9, f"somebody said this of it {n}"))
            connection.execute("insert into keywords values (?, ?)", (n, f"word{n}"))
    connection.close()
    code, out, _ = run("index", "a.db", "--suggest")
    assert (code, out.splitlines()) == (
        0,
        [
            "setsearch index a.db --table articles --id id --text body --tags keywords.article=word --track "
            "--collection articles",
            "setsearch index a.db --table comments --id id --tags article --text body --track --collection comments",
        ],
    )


def test_ids_of_the_same_table_are_links(tmp_path, run):
    with sqlite3.connect(tmp_path / "n.db") as connection:
        connection.execute(
            "create table notes (id integer primary key, body text, cites text, near text, sizes text, rank text, "
            "parent integer references notes, twin text)"
        )
        for n in range(60):
            lists = (
                json.dumps([n // 2, str((n + 5) % 60)]),
                f"{n // 3};{n // 4}",
                json.dumps([n % 9]),
                json.dumps([n + 70]),
            )
            row = n, f"some words of note {n}", *lists, n // 2, str(n // 2)
            connection.execute("insert into notes values (?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.close()
    code, out, _ = run("index", "n.db", "--suggest")
    options = "--links cites --links near --tags sizes --tags rank --links parent --links twin --split ';' --track"
    assert (code, out) == (0, f"setsearch index n.db --table notes --id id --text body {options}\n")
    assert run(*shlex.split(out)[1:])[0] == 0
    with setsearch.open(tmp_path / "n.db") as index:
        assert {"parent:7", "parent:15", "cites:20", "sizes:6"} <= {*index.items("documents").features_of("15")}


def test_rows_in_order_keys_without_a_declaration_and_several_tags_in_a_cell(tmp_path, run):
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.executescript(
        """
        create table films (id integer primary key, title text, year integer, genres text, studio_id integer,
            import_id integer, rare integer, empty text);
        create table studios (id integer primary key, name text);
        create table categories (id integer primary key, name text);
        create table categories_films (id integer primary key, film_id integer, category_id integer);
        """
    )
    for n in range(1200):
        year, genres = 1950 + n // 75, "|".join(sorted({f"g{n % 5}", f"g{n % 7}", f"h{n % 3}"}))
        row = (3 * n, f"a film of some words {n}", year, genres, n % 9, n, n if n > 1180 else None)
        connection.execute("insert into films values (?, ?, ?, ?, ?, ?, ?, null)", row)
        connection.execute("insert into categories_films (film_id, category_id) values (?, ?)", (3 * n, n % 3))
    connection.executemany("insert into studios values (?, ?)", [(n, f"Studio {n}") for n in range(9)])
    connection.executemany("insert into categories values (?, ?)", [(n, f"Category {n}") for n in range(3)])
    connection.commit()
    code, out, _ = run("index", "shop.db", "--suggest")
    films = (
        "setsearch index shop.db --table films --id id --title title --text title --numbers year --tags genres "
        "--tags films.id=studio_id,studios.id=name --numbers rare --split '|' "
        "--tags categories_films.film_id=category_id,categories.id=name --track --collection films"
    )
    assert code == 0 and films in out.splitlines(), "years are in order, import_id is an id, and rare at the end"
    assert run(*shlex.split(films)[1:])[0] == 0
    with setsearch.open(tmp_path / "shop.db", collection="films") as index:
        features = index.items("films/documents").features_of("3")
        assert {"genres:g1", "genres:h1", "studio:Studio 1", "category:Category 1"} <= {*features}


def test_short_texts_dates_and_likes_are_suggested_and_objects_of_json_are_not(tmp_path, run):
    connection = sqlite3.connect(tmp_path / "shop.db")
    connection.executescript(
        """
        create table wares (id integer primary key, name text, kind text, since text, raw text);
        create table ratings (movieId integer, userId integer, rating real);
        create table likes (person integer, ware integer references wares, at text, primary key (person, ware));
        """
    )
    for n in range(30):
        row = n, f"red {n}", f"k{n % 3}", f"2020-01-{n + 1:02}", json.dumps({"a": f"a text of some words {n}"})
        connection.execute("insert into wares values (?, ?, ?, ?, ?)", row)
        connection.execute("insert into ratings values (?, ?, ?)", (n % 5, n % 7, n % 4))
        connection.execute("insert into likes values (?, ?, ?)", (n % 4, n, "2020-01-01"))
    connection.commit()
    connection.close()
    code, out, _ = run("index", "shop.db", "--suggest")
    assert (code, [line.removeprefix("setsearch index shop.db --table ") for line in out.splitlines()]) == (
        0,
        [
            "wares --id id --title name --text name --tags kind --numbers since --tags likes.ware=person --track "
            "--collection wares",
            "likes --items ware --features person --track --collection likes",
            "ratings --items movieId --features userId --track --collection ratings",
        ],
    )
    for line in out.splitlines():
        code, _, said = run(*shlex.split(line)[1:])
        assert code == 0, said


def test_what_cannot_be_suggested_is_one_line(tmp_path, run, failed):
    failed(run("index", "none.db", "--suggest"), 1, "does not exist, so it has no tables")
    with sqlite3.connect(tmp_path / "bare.db") as connection:
        connection.execute("create table pairs (a integer, b integer)")
    failed(run("index", "bare.db", "--suggest"), 1, "has no table with a key and texts")
    (tmp_path / "text.db").write_text("this is no database, but a text of some length\n" * 40)
    failed(run("index", "text.db", "--suggest"), 1, "the tables of", "cannot be read")


def test_ids_stay_where_rows_have_the_same_name_or_a_column_has_the_name_of_the_field(tmp_path, run):
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.executescript(
        """
        create table people (id integer primary key, name text);
        create table shelves (id integer primary key, name text);
        create table books (id integer primary key, body text, person_id integer references people,
            shelf_id integer references shelves, shelf text);
        """
    )
    connection.executemany("insert into people values (?, ?)", [(n, f"Ann {n // 2}") for n in range(4)])
    connection.executemany("insert into shelves values (?, ?)", [(n, f"shelf {n}") for n in range(4)])
    rows = [(n, f"a text of book number {n}", n % 4, n % 4, f"kind {n % 3}") for n in range(20)]
    connection.executemany("insert into books values (?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    code, out, _ = run("index", "app.db", "--suggest")
    books = "--id id --text body --tags person_id --tags shelf_id --tags shelf --track"
    assert code == 0 and f"setsearch index app.db --table books {books} --collection books" in out.splitlines()


def test_a_column_with_the_name_of_a_table_refers_to_it_if_it_has_its_ids(tmp_path, run):
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.executescript(
        """
        create table articles (id integer primary key, body text, kind text);
        create table kinds (id integer primary key, name text);
        create table tagged (article integer, tag integer);
        create table tags (id integer primary key, name text);
        """
    )
    connection.executemany("insert into tags values (?, ?)", [(n, f"tag {n}") for n in range(5)])
    connection.executemany("insert into kinds values (?, ?)", [(n, f"k{n}") for n in range(3)])
    for n in range(20):
        connection.execute("insert into articles values (?, ?, ?)", (n, f"a text of article {n}", f"k{n % 3}"))
        connection.execute("insert into tagged values (?, ?)", (n, n % 5))
    connection.commit()
    connection.close()
    code, out, _ = run("index", "app.db", "--suggest")
    articles = "--id id --text body --tags kind --tags tagged.article=tag,tags.id=name --track --collection articles"
    assert code == 0 and f"setsearch index app.db --table articles {articles}" in out.splitlines()


def test_rows_that_have_nothing_but_numbers_and_ids_have_their_key_as_text(tmp_path, run):
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("create table towns (id integer primary key, lat real)")
        connection.execute(
            "create table gauges (id integer primary key, height real, town int references towns, note text)"
        )
        connection.executemany("insert into gauges values (?, ?, ?, null)", [(n, n / 7, n % 4) for n in range(40)])
    connection.close()
    code, out, _ = run("index", "a.db", "--suggest")
    assert (code, out) == (
        0,
        "setsearch index a.db --table gauges --id id --numbers height --tags town --text id --track\n",
    )
    assert run(*shlex.split(out)[1:])[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").expand(["10"], 3)[0].item in ("9", "11")


def test_two_tables_that_name_the_same_field_are_suggested_once(tmp_path, run):
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.executescript(
            """
            create table films (id integer primary key, plot text, kind text);
            create table people (id integer primary key, film integer references films, name text, kind text);
            create table places (film integer references films, name text);
            create table roles (film integer references films, name text);
            create table kinds (film integer references films, kind text);
            create table plays (id integer primary key, film integer references films, hall integer references halls,
                at text);
            create table halls (id integer primary key, name text);
            """
        )
        for n in range(40):
            connection.execute("insert into films values (?, ?, ?)", (n, f"a text of some words {n}", f"k{n % 3}"))
            for table in ("places", "roles", "kinds"):
                connection.execute(f"insert into {table} values (?, ?)", (n, f"name{n % 5}"))
            connection.execute("insert into plays values (?, ?, ?, '2020-01-01')", (n, n, n % 4))
        connection.executemany("insert into halls values (?, ?)", [(n, f"Hall {n}") for n in range(4)])
    connection.close()
    code, out, _ = run("index", "a.db", "--suggest")
    films = (
        "setsearch index a.db --table films --id id --text plot --tags kind --tags places.film=name "
        "--tags plays.film=hall,halls.id=name --track --collection films"
    )
    assert code == 0 and films in out.splitlines(), out
    assert run(*shlex.split(films)[1:])[0] == 0


def library(path, titles=("Emma", "Persuasion", "Dune", "Dune Messiah", "The Dispossessed", "Always Coming Home")):
    """Books as services export them: authors with several books, shelves between commas, numbers that are codes."""
    authors = ["Jane Austen", "Jane Austen", "Frank Herbert", "Frank Herbert", "Ursula K. Le Guin", "Ursula K. Le Guin"]
    turned = ["Austen, Jane"] * 2 + ["Herbert, Frank"] * 2 + ["Le Guin, Ursula K."] * 2
    shelves = ["classic, love", "classic, love, best", "desert, best", "desert", "utopia, best", "utopia, love"]
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["No", "Book Id", "Title", "Author", "Author l-f", "ISBN13", "My Rating", "Shelves", "Read, or not"]
        )
        for n in range(24):
            own = [n + 1, 100 + 7 * n, f"{titles[n % 6]} {n}", authors[n % 6], turned[n % 6], 9780441000000 + 3 * n]
            rows.writerow([*own, n % 5 or "", shelves[n % 6], "x"])


def test_a_file_of_rows_is_suggested_as_a_table_is(tmp_path, run):
    library(tmp_path / "books.csv")
    code, out, said = run("index", "books.db", "books.csv", "--suggest")
    command = (
        "setsearch index books.db books.csv --id 'Book Id' --title Title --text Title --tags Author --tags Shelves "
        "--split , --keep-columns 'Author,My Rating,Shelves'\n"
    )
    assert (code, out) == (0, command), "no codes, numbers of rows, torn names, or names with a comma"
    assert said == "left out: No, Author l-f, ISBN13, Read, or not; add what counts\n"
    assert not (tmp_path / "books.db").exists()
    code, _, said = run(*shlex.split(out)[1:])
    assert code == 0, said
    with setsearch.open(tmp_path / "books.db") as index:
        (hit,) = index.items("documents").expand(["Emma 0", "Persuasion 1"], 1, filter=["My Rating > 1"])
        assert hit.columns["Author"] == "Jane Austen"
        assert "Shelves:love" in index.items("documents").features_of("Emma 0")


@pytest.mark.parametrize(("other", "title"), [("Album", "--title 'Track Name' "), ("Last Name", "")])
def test_a_title_may_be_called_after_what_it_names(tmp_path, run, other, title):
    """But of two such columns neither names the row."""
    rows = "".join(f"a:{n},Song {n},of {n},{n % 3} stars\n" for n in range(12))
    (tmp_path / "a.csv").write_text(f"Track URI,Track Name,{other},Stars\n{rows}")
    texts = f"--text 'Track Name' --text {shlex.quote(other)} --tags Stars --keep-columns Stars\n"
    assert (
        run("index", "a.db", "a.csv", "--suggest")[1] == f"setsearch index a.db a.csv --id 'Track URI' {title}{texts}"
    )


def test_a_missing_column_names_the_way_to_a_command(tmp_path, run, failed):
    library(tmp_path / "books.csv")
    failed(run("index", "books.db", "books.csv"), 1, "has no column 'text'", "--suggest prints a command with --id")


def test_what_holds_documents_needs_no_suggestion(tmp_path, run, failed):
    message = {"date": "2024-03-01T01:00:00", "from": "Ann", "from_id": "user1", "text": "lunch"}
    (tmp_path / "a.json").write_text(json.dumps({"messages": [message]}))
    (tmp_path / "a.html").write_text("<p>Lions</p>")
    for name in ("a.json", "a.html"):
        failed(run("index", "a.db", name, "--suggest"), 1, f"{name} holds documents, which need no columns; index it")
    (tmp_path / "a.djvu").write_text("AT&TFORM")
    failed(run("index", "a.db", "a.djvu", "--suggest"), 1, "a.djvu is not read: DjVu: save it as PDF")


def test_a_few_cells_with_several_tags_tell_what_parts_them(tmp_path, run):
    tags = ["space", "space", "horror", "home", "horror, space", "horror, home, space"]
    with (tmp_path / "films.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["id", "review", "tags"]]
            + [[f"f{n}", "a long review, of one film", tags[n % 12] if n % 12 < 6 else ""] for n in range(36)]
        )
    code, out, _ = run("index", "a.db", "films.csv", "--suggest")
    options = "--id id --text review --tags tags --split , --keep-columns tags"
    assert (code, out) == (0, f"setsearch index a.db films.csv {options}\n")


def test_issues_have_the_words_of_their_comments(tmp_path, run):
    people = ["ann", "bob", "cleo"]
    issues = [
        {
            "number": 10 + n,
            "title": f"Crash {n}",
            "body": None,
            "author": {"login": people[n]},
            "labels": [{"name": "bug"}, {"name": "ui"}] if n else [],
            "comments": [{"id": f"c{n}", "body": f"the parser of {own} is slow", "at": "2024-01-02"} for own in people],
        }
        for n in range(3)
    ]
    (tmp_path / "issues.json").write_text(json.dumps({"total": 3, "issues": issues}))
    code, out, said = run("index", "a.db", "issues.json", "--suggest")
    options = "--id number --title title --text comments.body --tags labels.name --keep-columns labels.name"
    assert (code, out) == (0, f"setsearch index a.db issues.json {options}\n")
    assert said == "left out: author.login, comments.id, comments.at; add what counts\n"
    assert run(*shlex.split(out)[1:])[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        found = index.items("documents").features_of("11")
        assert {"parser", "cleo", "labels.name:ui"} <= {*found}


def test_issues_as_services_answer_are_rows(tmp_path, run):
    nodes = [{"number": 7 + n, "title": f"Bug {n}", "body": "a long text of a bug"} for n in range(4)]
    whole = {"data": {"repository": {"issues": {"edges": [{"node": own} for own in nodes]}}}}
    (tmp_path / "a.json").write_text(json.dumps(whole))
    code, out, _ = run("index", "a.db", "a.json", "--suggest")
    assert (code, out) == (
        0,
        "setsearch index a.db a.json --id node.number --title node.title --text node.body\n",
    )


def test_likes_in_the_order_of_the_users_are_a_relation(tmp_path, run):
    rows = [f"{n // 400},{n},4.5,{1_500_000_000 + n}" for n in range(2_000)]
    (tmp_path / "ratings.csv").write_text("userId,movieId,rating,timestamp\n" + "\n".join(rows))
    code, out, _ = run("index", "a.db", "ratings.csv", "--suggest")
    assert (code, out) == (0, "setsearch index a.db ratings.csv --items movieId --features userId\n")


def test_orders_are_a_relation_without_names_of_ids(tmp_path, run):
    rows = [f"{n // 20},{n * 7 % 300},{1 + n % 2},2024-03-{1 + n % 28:02} 10:00:00" for n in range(2_000)]
    (tmp_path / "orders.csv").write_text("user,product,count,time\n" + "\n".join(rows))
    code, out, _ = run("index", "a.db", "orders.csv", "--suggest")
    assert (code, out) == (0, "setsearch index a.db orders.csv --items product --features user\n")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("create table orders (customer int, product int, bought text)")
        cells = [(n // 2, n * 7 % 3001, f"2024-03-{1 + n % 28:02}") for n in range(4_000)]  # few come again
        connection.executemany("insert into orders values (?, ?, ?)", cells)
        connection.commit()
    code, out, _ = run("index", "shop.db", "--suggest")
    assert (code, out) == (0, "setsearch index shop.db --table orders --items product --features customer --track\n")


def test_rows_with_lists_objects_and_long_texts(tmp_path, run):
    rows = [
        {
            "id": f"p{n}",
            "body": f"a long text, of {n}, with commas",
            "words": ["x", f"y{n % 3}"],
            "by": [{"name": "Ann", "id": n}] if n else [],
        }
        for n in range(20)
    ]
    rows += [{"id": "last", "body": None, "a=b": 3.5}]
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, said = run("index", "a.db", "notes.jsonl", "--suggest")
    options = "--id id --text body --tags words --tags by.name --keep-columns words,by.name,a=b"
    assert said == "left out: by.id; add what counts\n"
    assert (code, out) == (0, f"setsearch index a.db notes.jsonl {options}\n")
    assert run(*shlex.split(out)[1:])[0] == 0


def test_columns_whose_names_cannot_be_those_of_fields_get_others(tmp_path, run):
    rows = [f"film {n} of many words,kind {n % 3}" for n in range(20)]
    (tmp_path / "films.csv").write_text("title,Kind: a=b\n" + "\n".join(rows))
    code, out, _ = run("index", "a.db", "films.csv", "--suggest")
    assert code == 0 and "--tags 'Kind  a b=Kind: a=b'" in out, out
    assert run(*shlex.split(out)[1:])[0] == 0


def test_columns_of_tables_with_such_names_get_others_too(tmp_path, run):
    path = tmp_path / "odd.db"
    connection = sqlite3.connect(path)
    connection.execute('create table notes (id integer primary key, "bo,dy" text, "in:year" int, "tags,all" text)')
    rows = [(f"a lion of kind {n % 3} and of all the others", 1990 + n, f'["t{n % 3}", "u"]') for n in range(20)]
    connection.executemany('insert into notes ("bo,dy", "in:year", "tags,all") values (?, ?, ?)', rows)
    connection.commit()
    columns = suggest.columns_of(Table(connection.cursor(), "notes"))
    connection.close()
    assert columns is not None
    assert (columns.numbers, columns.tags) == (("in year=in:year",), ("tags all=tags,all",))
    code, command, _ = run("index", path, "--suggest")
    assert code == 0
    assert run(*shlex.split(command)[1:])[0] == 0
    with setsearch.open(path) as index:
        features = index.items("documents").features_of(1)
    assert {name.partition(":")[0] for name in features if ":" in name} == {"in year", "tags all"}


@pytest.mark.skipif(not which("bash"), reason="needs bash, which reads the command: apt install bash")
def test_control_characters_are_told_as_a_shell_takes_them(tmp_path, run):
    table, column = "a\x1b[31mb\nc\u202e'd", "te\x07xt\x9b"
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(f'create table "{table}" (id integer primary key, "{column}" text)')
        texts = [(number, f"the lion sat here for a long time {number}") for number in range(20)]
        connection.executemany(f'insert into "{table}" values (?, ?)', texts)
        connection.commit()
    code, out, _ = run("index", "a.db", "--suggest")
    assert code == 0 and out.removesuffix("\n").isprintable()
    utf8, printed = os.environ | {"LC_ALL": "C.UTF-8"}, ["bash", "-c", f"printf '%s\\0' {out}"]
    read = subprocess.run(printed, env=utf8, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert read == ["setsearch", "index", "a.db", "--table", table, "--id", "id", "--text", column, "--track"]


def test_files_without_names_or_texts_are_one_line(tmp_path, run, failed):
    (tmp_path / "songs.csv").write_text("Björk,Jóga\n" * 20)
    failed(run("index", "a.db", "songs.csv", "--suggest"), 1, "has its first line, Björk, Jóga, among its rows")
    (tmp_path / "empty.jsonl").write_text("")
    failed(run("index", "a.db", "empty.jsonl", "--suggest"), 1, "empty.jsonl has no column of texts")
    (tmp_path / "numbers.csv").write_text("probe,mean\n" + "".join(f"{n},{n / 7}\n" for n in range(20)))
    failed(run("index", "a.db", "numbers.csv", "--suggest"), 1, "numbers.csv has no column of texts")
    failed(run("index", "a.db", "none.csv", "--suggest"), 1, "none.csv does not exist")
    failed(run("index", "a.db", str(tmp_path), "--suggest"), 1, "is a folder, which needs no columns")


@pytest.mark.parametrize(
    ("header", "rows", "options"),
    [
        ("package,tag", [f"p{n // 4},use::{n % 9}" for n in range(400)], "--items package --features tag"),
        ("Customer,Album", [f"Ann {n // 4},Let It {n % 9}" for n in range(400)], "--items Album --features Customer"),
        ("label,message", [f"l{n % 3},win {n} now" for n in range(400)], "--text message"),
        ("kind,words", [f"k{n % 3},\"['a', 'w{n % 9}']\"" for n in range(400)], "--text"),
    ],
)
def test_pairs_of_names_that_come_again_are_a_relation(tmp_path, run, header, rows, options):
    (tmp_path / "a.csv").write_text("\n".join([header, *rows]) + "\n")
    code, out, _ = run("index", "a.db", "a.csv", "--suggest")
    assert code == 0 and options in out
    assert run(*shlex.split(out)[1:])[0] == 0


def test_whole_numbers_of_a_column_that_ends_so_are_ids(tmp_path, run):
    rows = [f"{1000 + 3 * n},Town {n},{n / 7:.3f},on a river with {n} bridges" for n in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["geonameid,name,humid,about", *rows]) + "\n")
    out = run("index", "a.db", "a.csv", "--suggest")[1]
    assert "--id geonameid" in out and "--numbers humid" in out
    (tmp_path / "b.csv").write_text("\n".join(["humid,about", *(f"{n / 7:.3f},a day {n}" for n in range(40))]) + "\n")
    assert "--id" not in run("index", "b.db", "b.csv", "--suggest")[1]


def test_prices_are_numbers(tmp_path, run):
    rows = [f'p{n},Lamp {n},a lamp of {n % 7} watts and {n} more,"€ {n % 12}.50"' for n in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["sku,name,about,price", *rows]) + "\n")
    code, out, _ = run("index", "a.db", "a.csv", "--suggest")
    assert code == 0 and "--numbers price" in out and "--tags price" not in out
    assert run(*shlex.split(out)[1:])[0] == 0


def test_vectors_are_no_tags(tmp_path, run):
    """Lists of as many numbers; those of whole numbers may be, and short ones are places."""
    rows = [
        {
            "key": f"a{n}",
            "body": f"lions and tigers of the savanna number {n}, " * 3,
            "embedding": [n / 7, 0.5, *range(8)],
            "tags": ["lion", "cat"][: n % 2 + 1],
        }
        for n in range(40)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, said, _ = run("index", "a.db", "a.jsonl", "--suggest")
    assert code == 0 and "--tags tags" in said and "--text body" in said and "embedding" not in said


def test_tables_with_most_text_come_first_and_those_of_frameworks_last(tmp_path, run):
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.executescript(
        """
        create table auth_permission (id integer primary key, name text, codename text);
        create table django_admin_log (id integer primary key, change_message text);
        create table blog_tag (id integer primary key, name text);
        create table shop_note (id integer primary key, body text);
        create table shop_article (id integer primary key, body text);
        create table shop_rating (film_id integer, user_id integer, primary key (film_id, user_id));
        """
    )
    for n in range(40):
        connection.execute("insert into auth_permission values (?, ?, ?)", (n, f"Can add log {n}", f"add_{n}"))
        connection.execute(
            "insert into django_admin_log values (?, ?)", (n, f"somebody has changed the thing {n} " * 9)
        )
        connection.execute("insert into blog_tag values (?, ?)", (n, f"tag{n}"))
        connection.execute("insert into shop_note values (?, ?)", (n, f"a short note of number {n}"))
        connection.execute("insert into shop_article values (?, ?)", (n, f"a text of the article of number {n} " * 5))
        connection.execute("insert into shop_rating values (?, ?)", (n % 8, n // 8))
    connection.commit()
    connection.close()
    out = run("index", "app.db", "--suggest")[1]
    tables = [line.split(" --table ")[1].split()[0] for line in out.splitlines()]
    own = ["shop_article", "shop_note", "blog_tag", "shop_rating"]
    assert tables == [*own, "django_admin_log", "auth_permission"]


def test_objects_of_json_have_columns_of_their_own(tmp_path, run):
    rows = [
        {"key": f"A-{n}", "fields": {"title": f"of {n}", "kind": f"k{n % 3}", "body": f"this is a long text of {n}"}}
        for n in range(20)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, _ = run("index", "a.db", "a.jsonl", "--suggest")
    options = "--id key --title fields.title --tags fields.kind --text fields.body"
    assert (code, out) == (0, f"setsearch index a.db a.jsonl {options} --keep-columns fields.kind\n")
    assert run(*shlex.split(out)[1:])[0] == 0
