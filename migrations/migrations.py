"""`sqlite-utils migrate DB migrations/` finds the migrations of setsearch through this door."""

from setsearch.storage.schema import migrations

__all__ = ["migrations"]
