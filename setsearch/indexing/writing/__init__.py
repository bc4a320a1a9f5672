"""From items to stored lists: one write opens its relation, numbers features, and stores lists, a batch at a time."""
