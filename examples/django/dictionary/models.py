"""The model of the application, and a manager that expands sets of its rows."""

from django.db import connections, models

import setsearch


class SetManager(models.Manager):
    """`Entry.objects.like(...)`: the rows that belong with some examples. Django's own connection is used."""

    def index(self):
        """The setsearch index of the table, beside it in its database. What was read once stays in memory."""
        return setsearch.open(connections[self.db])

    def track(self):
        """Index the table, note its changes from now on, and derive; `python manage.py setsearch` does it.

        What rows have in other tables (ManyToManyField) counts by its column `name`, and is followed, too.
        """
        own, tags = self.model._meta, []
        for field in own.many_to_many:
            rows, other = f"{field.m2m_db_table()}.{field.m2m_column_name()}", field.related_model._meta
            tags.append(f"{rows}={field.m2m_reverse_name()},{other.db_table}.{other.pk.column}=name")
        roles = setsearch.Columns(id=own.pk.column, title="title", text=("title", "text"), tags=tags)
        index = self.index()
        return index.add_table(self.model._meta.db_table, roles, track=True) + index.refresh("now")

    def like(self, *examples, k=10, among=None, **options):
        """The k rows that belong most with the examples, which are rows or keys, best first; `among` is a queryset."""
        index = self.index()
        index.refresh()  # the changed rows only; what takes longer is for `python manage.py setsearch`
        hits = index.items("documents").expand(examples, k, among=among, **options)
        rows = self.in_bulk([int(hit.item) for hit in hits])
        return [rows[int(hit.item)] for hit in hits]


class Tag(models.Model):
    """What entries are about."""

    name = models.TextField(unique=True)


class Entry(models.Model):
    """A headword, its definition, and what it is about."""

    title = models.TextField()
    text = models.TextField()
    tags = models.ManyToManyField(Tag)
    objects = SetManager()
