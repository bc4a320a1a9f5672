"""The page of a review: one item after another, with its text, why it is suggested, and how far the review is."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from setsearch.answers.saved.decisions import Decision
from setsearch.errors import AnsweredMeanwhile, NoSeeds, QueryError, UsageError
from setsearch.index import Index
from setsearch.learning.review import Review
from setsearch.learning.review_files import KINDS, dropped_fields, write_review
from setsearch.options import require_known
from setsearch.web.access import Pages
from setsearch.web.page_state import Address, attachment, read_form, redirect
from setsearch.web.start import start_review
from setsearch.web.typed_names import saved_set, without_commands
from setsearch.web.view import make_view, marked_text, scale_of, score_bars

WIDTH, HEIGHT = 100, 40  # of the curve
TYPES = {
    "csv": "text/csv",
    "ris": "application/x-research-info-systems",
    "bib": "application/x-bibtex",
    "nbib": "application/nbib",
    "ciw": "text/plain",
    "enw": "application/x-endnote-refer",
}


def add_review(pages: Pages) -> None:
    @pages.get("/review")
    async def review_page(request: Request) -> Response:
        require_known(request.query_params, ("set",))
        name = request.query_params.get("set", "")
        return await pages.show(request, "review.html", lambda index: {"found": _found(_review(index, name))})

    @pages.get("/review/export")
    async def export_page(request: Request) -> Response:
        require_known(request.query_params, ("set",))
        name = request.query_params.get("set", "")
        dropped = await pages.pool.ask(lambda index: dropped_fields(_review(index, name)))
        return await pages.show(request, "export.html", lambda _: {"set": name, "dropped": dropped})

    @pages.get("/review.{kind}")
    async def review_file(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in KINDS:
            raise HTTPException(404, f"reviews are exported as {', '.join(KINDS)}, not as {kind}")
        name = request.query_params.get("set", "")
        content = await pages.pool.ask(lambda index: write_review(_review(index, name), kind))
        return attachment(content, f"review.{kind}", TYPES[kind])

    @pages.post("/review/start")
    async def start(request: Request) -> Response:
        form = await read_form(request)
        items, name, known = (form.get(key, "").strip() for key in ("items", "name", "known"))
        try:
            await pages.pool.ask(lambda index: start_review(index, items, name, known))
        except (QueryError, UsageError) as error:  # what was typed stays
            typed = {"name": name, "known": known, "problem": without_commands(str(error))}
            view = partial(make_view, asked=Address(items), typed=typed)
            return await pages.show(request, "set.html", lambda index: {"view": view(index)}, 422)
        return redirect(request, "review?" + urlencode({"set": name}))

    @pages.post("/review")
    async def decide(request: Request) -> Response:
        form = await read_form(request)
        found = await pages.pool.ask(lambda index: _decide(_review(index, form.get("set", "")), form))
        if found is None:
            return redirect(request, "review?" + urlencode({"set": form.get("set", "")}))
        return await pages.show(request, "review.html", lambda _: {"found": found}, found["code"])


def _review(index: Index, name: str) -> Review:
    return Review(index, saved_set(index, name).name)


def _decide(review: Review, form: Mapping[str, str]) -> dict[str, Any] | None:
    """Save what a form says; returns what the page shows then, if there is something to tell."""
    if form.get("said") == "undo":
        undone = review.undo(form.get("last"))
        told = "Nothing to undo." if undone is None else f"Undone: {undone}"
        again = [f"; again: {own}" for own in review.decisions() if undone and own.item == undone.item]
        return _found(review, told + "".join(again), undone)
    given = {name: form.get(name, "").strip() for name in ("said", "reason", "note")}
    given["item"] = form.get("item", "")
    if given["reason"] and given["said"] != "no":
        told = f"Nothing was saved: {given['reason']!r} is a reason for no. Answer no, or empty the field."
        return _found(
            review, told, Decision(given["item"], given["said"], reason=given["reason"], note=given["note"])
        ) | {"code": 422}
    try:
        before = review.decide(**given, replaces=form.get("replaces"))
    except AnsweredMeanwhile as error:  # the next record, and a button for this one
        told = str(error).removesuffix("; `replaces` overrules it")
        refused = {**given, "replaces": error.said}
        return _found(review, f"{told[:1].upper()}{told[1:]}.") | {"refused": refused, "code": 409}
    return None if before is None else _found(review, f"Replaced: {before}")


def _found(review: Review, told: str | None = None, typed: Decision | None = None) -> dict[str, Any]:
    """What the page shows; first the record of what was undone, or not saved, with what was `typed`."""
    progress, decisions = review.progress(), review.decisions()
    found: dict[str, Any] = {
        "name": review.name,
        "items": review.reading.name,
        "recall": review.recall,
        "confidence": review.confidence,
        "progress": progress,
        "knows": progress.outlook.is_narrow,
        "curve": _points(progress.curve, sum(own.said == "yes" and own.number is None for own in decisions)),
        "reasons": [*dict.fromkeys(decision.reason for decision in decisions if decision.reason)],
        "last": next((own.item for own in decisions[-1:] if own.number is not None), None),
        "told": told,
        "typed": {},
        "refused": None,
        "code": 200,
        "hit": None,
        "problem": None,
        "bars": [],
    }
    try:
        hits = review.queue(item=typed and typed.item)
    except NoSeeds as error:
        return found | {"problem": str(error)}
    if not hits:
        return found
    hit = hits[0]
    record = review.record(hit.item, hit.title)
    bars = score_bars(hit, scale_of([hit]))
    pieces = marked_text(review.reading, record.text, hit)
    said = [own for own in (typed, *decisions) if own is not None and own.item == hit.item]
    found["typed"] = {name: next(filter(None, (getattr(own, name) for own in said)), "") for name in ("reason", "note")}
    return found | {
        "hit": hit,
        "title": record.title,
        "source": record.source,
        "doi": "" if record.reference is None else record.reference.doi,
        "pieces": pieces,
        "bars": bars,
    }


def _points(curve: list[int], known: int) -> str:
    """The curve of what was found, from what was known, as points of an SVG; empty if nothing was decided."""
    most = max([1, *curve])
    points = enumerate([known, *curve] if curve else [])
    return " ".join(f"{WIDTH * x / len(curve):.1f},{HEIGHT * (1 - y / most):.1f}" for x, y in points)
