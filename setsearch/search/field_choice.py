"""Which fields answer a question about words: contexts, documents, or both."""

from collections.abc import Iterable
from dataclasses import dataclass

from setsearch.errors import InvalidParameter
from setsearch.memory.fields import Fields
from setsearch.memory.readings import BY, FieldsBy
from setsearch.options import ModelOptions


@dataclass(frozen=True)
class FieldChoice:
    """The fields of a reading: `name` is what it ranks."""

    name: str
    has_contexts: bool

    def keys(self, options: ModelOptions) -> list[str]:
        """The keys of BY that may answer, the preferred one first; raises InvalidParameter."""
        by = options.get("by") if self.name == "terms" else None  # others have fields in one relation (defaults.py)
        if by is not None and by not in [*BY]:
            raise InvalidParameter(f"by must be one of {', '.join(BY)}, not {by!r:.40}")
        is_default = self.has_contexts and options.get("model") in (None, "lift")
        if by is None or (by == "both" and is_default):
            return ["both", "documents"] if is_default else ["documents"]
        return [by]

    def choose(
        self,
        fields_by: FieldsBy,
        options: ModelOptions,
        seeds: Iterable[str],
        excluded: Iterable[str] = (),
        item: str | None = None,
    ) -> Fields:
        """The fields to use, unless `by` decides: contexts if one of the seeds, and the `item`, have them.

        Seeds without contexts then count by their documents. They, and excluded words without contexts, are looked up
        in `Fields.stored`, which is there only if it is needed.
        """
        *preferred, last = self.keys(options)
        best = fields_by(preferred[0]) if preferred else None
        if best is not None and (item is None or best.knows(item)):
            asked, left_out = [*seeds], {*excluded}
            known = best.find_all([*asked, *left_out]).keys()
            if known >= left_out.union(asked):
                return best
            if not asked or not known.isdisjoint(asked):
                return best._replace(stored=fields_by(last))
        fields = fields_by(last)
        if fields is None:
            raise InvalidParameter("the index has no contexts; index it with `contexts`, or expand by documents")
        return fields

    def cannot_tell(self, fields: Fields, options: ModelOptions) -> bool:
        """Whether no seed has the contexts that it should have: what belongs by documents is another question."""
        return len(self.keys(options)) > 1 and fields.contexts_revision is None
