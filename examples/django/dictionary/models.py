"""The model of the application, and a manager that expands sets of its rows."""

from django.db import connections, models

import setsearch


class SetManager(models.Manager):
    """`Entry.objects.like(...)`: the rows that belong with some examples. Django's own connection is used."""

    def index(self):
        """The setsearch index of the table, beside it in its database. What was read once stays in memory."""
        connection = connections[self.db]
        connection.ensure_connection()
        return setsearch.open(connection.connection)

    def track(self):
        """Index the table, note its changes from now on, and derive; `python manage.py setsearch` does it."""
        roles = setsearch.Columns(id=self.model._meta.pk.column, title="title", text=("title", "text"))
        index = self.index()
        return index.add_table(self.model._meta.db_table, roles, track=True) + index.refresh("now")

    def like(self, *examples, k=10, among=None, **options):
        """The k rows that belong most with the examples, which are rows or keys, best first; `among` is a queryset."""
        index = self.index()
        index.refresh()  # the changed rows only; what takes longer is for `python manage.py setsearch`
        hits = index.items("documents").expand(examples, k, among=among, **options)
        rows = self.in_bulk([int(hit.item) for hit in hits])
        return [rows[int(hit.item)] for hit in hits]


class Entry(models.Model):
    """A headword and its definition."""

    title = models.TextField()
    text = models.TextField()
    objects = SetManager()
