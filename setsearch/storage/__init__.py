"""One SQLite file: connections, transactions, tables, posting lists, names, checksums. Knows no models."""
