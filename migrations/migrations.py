"""`sqlite-utils migrate DB migrations/` finds the migrations of setsearch through this door."""

from setsearch.sqlite.schema import migrations

__all__ = ["migrations"]
