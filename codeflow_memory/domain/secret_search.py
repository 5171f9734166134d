"""The search for secrets in a text and in the views of it that undo a disguise.

The forms that name their issuer are rows of `secret_rules`; what surroundings give away is in
`secret_context`. Where lines are joined on the chance that they belong together, only the forms of
issuers count.
"""

from collections.abc import Iterator

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
    yield from _issued(text)
    whole = decoded(original)
    views = [view for view in (whole, unspaced(original)) if view is not original]
    for view in views:
        yield from _mapped(view, _issued(view.text))
    broken = joined(whole)
    if broken is not whole:
        yield from _continued(broken)
    yield from find_in_context(text)
    for view in views:
        yield from _mapped(view, find_in_context(view.text))
    if depth < _MAX_DEPTH:
        for view in dict.fromkeys((original, *views, broken)):
            yield from _mapped(view, _within_encoded(view, depth))


def _mapped(view: Rebuilt, found: Iterator[Found]) -> Iterator[Found]:
    return ((kind, *view.span(start, end)) for kind, start, end in found)


def _rows(text: str) -> Iterator[tuple[Rule, int, int]]:
    """Yield each match of a row with the span of its secret."""
    lowered = text.lower()
    for index in _MARKS.rows(text):
        rule = RULES[index]
        if rule.near not in lowered:
            continue
        pattern = rule.pattern
        part = "secret" if "secret" in pattern.groupindex else 0
        for found in pattern.finditer(text):
            if not rule.wordy or _is_no_name(found[0]):
                yield rule, *found.span(part)


def _issued(text: str) -> Iterator[Found]:
    return ((rule.kind, start, end) for rule, start, end in _rows(text))


def _continued(view: Rebuilt) -> Iterator[Found]:
    """Yield what goes on over a break: as far as the form needs it, or it looks like the rest."""
    for rule, start, end in _rows(view.text):
        cuts = view.cuts(start, end)
        if not cuts:
            continue
        bounds = [*cuts, end]
        last = _enough(rule, view.text, start, bounds)
        while last + 1 < len(bounds) and _is_rest(view.text[bounds[last] : bounds[last + 1]]):
            last += 1
        if last:
            yield rule.kind, *view.span(start, bounds[last])


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


def _within_encoded(view: Rebuilt, depth: int) -> Iterator[Found]:
    for start, end, meaning in encoded(view.text):
        inner = next(find_all(meaning, depth + 1), None)
        if inner is not None:
            yield inner[0], start, end


def _is_no_name(text: str) -> bool:
    return any(c.isdigit() for c in text) or is_random(text)
