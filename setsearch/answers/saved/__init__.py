"""What saved sets claim: inbox.py has what came since somebody looked, claims.py the sets of one item."""
