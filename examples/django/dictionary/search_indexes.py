"""What Haystack indexes."""

from haystack import indexes

from dictionary.models import Entry


class EntryIndex(indexes.SearchIndex, indexes.Indexable):
    """Entries by their definitions."""

    text = indexes.CharField(document=True, model_attr="text")
    title = indexes.CharField(model_attr="title")

    def get_model(self):
        """The model."""
        return Entry
