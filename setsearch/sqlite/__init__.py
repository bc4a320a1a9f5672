"""One SQLite file: connections, transactions, schema, limits, checksums. Knows no relation."""
