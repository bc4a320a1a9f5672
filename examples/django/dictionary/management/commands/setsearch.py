"""python manage.py setsearch: index the entries, or apply what has changed."""

from django.core.management.base import BaseCommand

from dictionary.models import Entry


class Command(BaseCommand):
    """The command."""

    help = "Index the entries for `Entry.objects.like`, and follow them from now on."

    def handle(self, *arguments, **options):
        """Index, and say how many rows were written."""
        changes = Entry.objects.track()
        self.stdout.write(f"{changes.written} entries written, {changes.deleted} deleted")
