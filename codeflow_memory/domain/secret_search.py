"""The search for secrets in a text and in the views of it that undo a disguise.

The forms that name their issuer are rows of `secret_rules`; what surroundings give away is in
`secret_context`. Where lines are joined on the chance that they belong together, only the forms of
issuers count.
"""

from collections.abc import Callable, Iterator
from functools import partial

from codeflow_memory.domain.marks import Marks
from codeflow_memory.domain.secret_context import find_in_context
from codeflow_memory.domain.secret_rules import RULES, Rule
from codeflow_memory.domain.secret_values import Found, is_random
from codeflow_memory.domain.secret_views import Rebuilt, decoded, encoded, joined, unspaced

_MARKS = Marks(rule.marks for rule in RULES)
_MAX_DEPTH = 2
"""Encodings within each other that are looked into."""

_MIN_REST = 6
"""Characters of a line that may be the rest of a secret which the line before could end."""


_BEFORE = 100
"""Characters before a secret that its form may read."""


def find_all(text: str, depth: int = 0) -> Iterator[Found]:
    """Yield kind, start and end of what is found; spans may overlap, those of issuers come first.

    Args:
        text: What to search.
        depth: How often what is searched was decoded before.
    """
    original = Rebuilt(text)
    lowered = text.lower()
    yield from _issued(text, lowered)
    whole = decoded(original)
    views = [view for view in (whole, unspaced(original)) if view is not original]
    for view in views:
        yield from _around(view, partial(_issued, about=lowered))
    broken = joined(whole)
    yield from _continued(broken, lowered)
    yield from find_in_context(text)
    for view in views:
        yield from _around(view, find_in_context)
    if depth < _MAX_DEPTH:
        look = partial(_within_encoded, depth=depth)
        yield from look(text)
        for view in dict.fromkeys((*views, broken)):
            yield from _around(view, look)


def _around(view: Rebuilt, look: Callable[[str], Iterator[Found]]) -> Iterator[Found]:
    """Look around what was changed in *view*: the rest is searched as it is."""
    for first, last in view.windows():
        for kind, start, end in look(view.text[first:last]):
            # What a window's own start lays bare is none.
            if start or not first or view.text[first - 1] == "\n":
                yield kind, *view.span(first + start, first + end)


def _rows(text: str, about: str) -> Iterator[tuple[Rule, int, int]]:
    """Yield each match of a row with the span of its secret; *about* has the words it needs."""
    for index in _MARKS.rows(text):
        rule = RULES[index]
        if rule.near not in about:
            continue
        pattern = rule.pattern
        part = "secret" if "secret" in pattern.groupindex else 0
        for found in pattern.finditer(text):
            if not rule.wordy or _is_no_name(found[0]):
                yield rule, *found.span(part)


def _issued(text: str, about: str) -> Iterator[Found]:
    return ((rule.kind, start, end) for rule, start, end in _rows(text, about))


def _continued(view: Rebuilt, about: str) -> Iterator[Found]:
    """Yield what goes on over a break: as far as the form needs it, or it looks like the rest."""
    for first, last in view.windows():
        text = view.text[first:last]
        for rule, start, end in _rows(text, about):
            bounds = [*(cut - first for cut in view.cuts(first + start, first + end)), end]
            at = _enough(rule, text, start, bounds)
            while at + 1 < len(bounds) and _is_rest(text[bounds[at] : bounds[at + 1]]):
                at += 1
            if at:
                yield rule.kind, *view.span(first + start, first + bounds[at])


def _enough(rule: Rule, text: str, start: int, bounds: list[int]) -> int:
    """Return the index of the first bound up to which the form is complete."""
    before = max(0, start - _BEFORE)
    for index, bound in enumerate(bounds[:-1]):
        if any(
            found.end() == bound - before for found in rule.pattern.finditer(text[before:bound])
        ):
            return index
    return len(bounds) - 1


def _is_rest(piece: str) -> bool:
    return len(piece) >= _MIN_REST and any(c.isdigit() for c in piece) and is_random(piece)


def _within_encoded(text: str, depth: int) -> Iterator[Found]:
    for start, end, meaning in encoded(text):
        inner = next(find_all(meaning, depth + 1), None)
        if inner is not None:
            yield inner[0], start, end


def _is_no_name(text: str) -> bool:
    return any(c.isdigit() for c in text) or is_random(text)
