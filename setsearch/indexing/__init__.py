"""From files and tables to stored posting lists, and keeping up with changes. Knows nothing of search."""
