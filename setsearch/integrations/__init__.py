"""Where setsearch plugs into other software: Whoosh, Datasette, sqlite-utils, SQL, assistants."""
