"""A Django application with "more like this": by a manager on its own table, and by Haystack with Whoosh.

python examples/django/application.py
"""

import json
import tempfile
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

CORPUS = Path(__file__).parent.parent.parent / "sample_corpus" / "wordnet.jsonl"


def configure(folder):
    """Django's settings; the databases are in `folder`."""
    settings.configure(
        INSTALLED_APPS=["haystack", "dictionary"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/dictionary.sqlite3"}},
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack_backend.SetsEngine", "PATH": f"{folder}/whoosh"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    )
    django.setup()


def demo():
    """Fill the tables, and ask."""
    from dictionary.models import Entry, Tag
    from haystack.query import SearchQuerySet

    call_command("migrate", run_syncdb=True, verbosity=0)
    rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    chosen = [row for number, row in enumerate(rows) if number % 8 == 0 or row["id"] in ("violin", "cello", "waltz")]
    Entry.objects.bulk_create(Entry(title=row["title"], text=row["text"]) for row in chosen)
    call_command("setsearch")
    call_command("update_index", verbosity=0)

    violin, cello = (Entry.objects.get(title=title) for title in ("violin", "cello"))
    print("like violin and cello:", ", ".join(entry.title for entry in Entry.objects.like(violin, cello, k=5)))
    wind = Entry.objects.filter(text__contains="wind")
    print("with wind:", ", ".join(entry.title for entry in Entry.objects.like(violin, cello, k=3, among=wind)))
    zither = Entry.objects.create(title="zither", text="a stringed instrument that is plucked, or bowed like a violin")
    index = Entry.objects.index()
    index.keep_set("strings", [str(violin.pk), str(cello.pk)], items="documents")
    viola = Entry.objects.create(title="viola d'amore", text="a bowed stringed instrument like a violin, with a bow")
    print("new for sets:", ", ".join(f"{row.title} in {row.set}" for row in index.inbox(["strings"])))
    index.inbox(["strings"]).accept(str(viola.pk))
    music = Tag.objects.create(name="music")
    violin.tags.add(music)
    zither.tags.add(music)
    print("by tags:", ", ".join(entry.title for entry in Entry.objects.like(violin, k=1, by="tag")))
    print("after a write:", ", ".join(entry.title for entry in Entry.objects.like(violin.pk, cello.pk, k=5)))
    print("by Haystack:", ", ".join(hit.title for hit in SearchQuerySet().more_like_this(violin)[:5]))
    filtered = SearchQuerySet().filter(content="musical").more_like_this(violin)
    print("with musical:", ", ".join(hit.title for hit in filtered[:3]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        configure(folder)
        demo()
