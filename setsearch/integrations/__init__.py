"""Plug-ins for other software: Whoosh, Datasette, sqlite-utils, SQL, assistants. Each imports its own library."""
