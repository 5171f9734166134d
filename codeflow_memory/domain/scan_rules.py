"""The catalogue of text that addresses the reading agent instead of informing it: one row each.

Patterns read the text in lower case, without compatibility forms and widthless characters. Every
gap is bounded and stays within a sentence, so that a text is read in linear time.
"""

from codeflow_memory.domain.scan_chinese import CHINESE
from codeflow_memory.domain.scan_leaks import LEAKS
from codeflow_memory.domain.scan_markers import MARKERS
from codeflow_memory.domain.scan_overrides import ADDRESSES, OVERRIDES
from codeflow_memory.domain.scan_rule import Rule, Severity
from codeflow_memory.domain.scan_tongues import TONGUES

__all__ = ["RULES", "Rule", "Severity"]

RULES: tuple[Rule, ...] = (*OVERRIDES, *ADDRESSES, *MARKERS, *LEAKS, *CHINESE, *TONGUES)
