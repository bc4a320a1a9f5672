"""Haystack's Whoosh backend with "more like this" by setsearch: the same calls, settings and results.

    HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack_backend.SetsEngine", "PATH": "whoosh_index"}}

`more_like_this` ranks by all terms of the document, among what passes models and filters, and pages through all of it.
Users may type like:(dictionary.entry.1 dictionary.entry.2) and ~{word, word}. The database is PATH.sets.db.
"""

from haystack.backends import whoosh_backend
from haystack.constants import ID
from haystack.utils import get_identifier

from setsearch.integrations.whoosh import WhooshSets


class SetsBackend(whoosh_backend.WhooshSearchBackend):
    """Whoosh's backend, followed by setsearch."""

    def setup(self):
        """Open both indexes, and teach the parser of queries to read sets."""
        super().setup()
        self.sets = WhooshSets(self.index, f"{self.path}.sets.db", id=ID, fields=self.content_field_name)
        self.sets.update()
        self.parser.add_plugin(self.sets.plugin())

    def update(self, index, iterable, commit=True):
        """Write documents to both indexes."""
        super().update(index, iterable, commit)
        self.sets.update()

    def remove(self, obj_or_string, commit=True):
        """Remove a document from both indexes."""
        super().remove(obj_or_string, commit)
        self.sets.update()

    def clear(self, models=None, commit=True):
        """Remove all documents, or those of some models."""
        super().clear(models, commit)
        self.sets.update()

    def more_like_this(self, model_instance, additional_query_string=None, **options):
        """As Haystack's; it is a search here, so that filters and pages apply as they do there."""
        query = f'like:("{get_identifier(model_instance)}")'
        if additional_query_string and additional_query_string != "*":
            query += f" AND ({additional_query_string})"
        return self.search(query, **options)


class SetsEngine(whoosh_backend.WhooshEngine):
    """Whoosh's engine with this backend."""

    backend = SetsBackend
