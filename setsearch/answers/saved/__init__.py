"""Saved sets: their members (stored.py, decisions.py), what these claim (claims.py), and what came since (inbox.py)."""
