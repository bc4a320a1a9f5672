"""What is derived of words: their contexts from the tokens of texts, latent vectors, and the nearest words."""
