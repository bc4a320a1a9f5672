"""References: records of RIS, PubMed, Web of Science, EndNote and BibTeX, kept whole, each indexed once."""
