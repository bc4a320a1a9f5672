"""`sqlite-utils migrate DB migrations/` finds the migrations of setsearch through this door."""

from setsearch.sqlite.migrations import migrations

__all__ = ["migrations"]
