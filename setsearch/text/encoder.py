"""Encoders of text: models that turn texts into vectors of their meaning."""

import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.errors import InvalidParameter, UsageError

NEEDS = "an encoder needs sentence-transformers: pip install 'setsearch[encoder]'"
FUNCTION = "function"  # the name of every encoder that is a function of the application

Matrix = npt.NDArray[np.float32]


class Encoder:
    """A model of sentence-transformers, by its name or folder, or a function from texts to rows of numbers."""

    def __init__(self, encoder: str | Callable[[list[str]], Any]) -> None:
        if not (callable(encoder) or (isinstance(encoder, str) and encoder)):
            raise InvalidParameter(f"an encoder is the name or folder of a model, or a function, not {encoder!r:.60}")
        self.name = encoder if isinstance(encoder, str) else FUNCTION
        self._function = encoder if callable(encoder) else None
        self.key = self.name, self._function
        self._lock = threading.Lock()

    def require(self) -> None:
        """Raise UsageError if the library of a model is not installed."""
        if self._function is None and find_spec("sentence_transformers") is None:
            raise UsageError(NEEDS)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """The vectors of texts, `(n_texts, size)`; raises UsageError, InvalidParameter."""
        with self._lock:
            if self._function is None:
                self._function = _load(self.name)
            rows = np.asarray(self._function(list(texts)), np.float32)
        if rows.ndim != 2 or len(rows) != len(texts):
            raise InvalidParameter(
                f"the encoder gave the shape {rows.shape} for {len(texts)} texts; it gives a row for each"
            )
        return rows


class Encoders:
    """Encoders by their names; the application's own is known from the start."""

    def __init__(self, own: Encoder | None = None) -> None:
        self._encoders = {} if own is None else {own.name: own}

    def __call__(self, name: str) -> Encoder:
        """The encoder of this name."""
        return self._encoders.setdefault(name, Encoder(name))


def _load(name: str) -> Callable[[list[str]], Any]:
    """The function of a model; sentence-transformers is slow to import."""
    if name == FUNCTION:
        raise UsageError("the vectors were made by a function of an application; give it as `encoder`")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise UsageError(NEEDS) from error
    try:
        model = SentenceTransformer(name)
    except Exception as error:  # of many libraries: the network, files, their formats
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InvalidParameter(f"the encoder {name!r} cannot be loaded: {reason}") from error
    return lambda texts: model.encode(texts, show_progress_bar=False)
