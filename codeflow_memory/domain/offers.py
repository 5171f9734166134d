"""What agents are offered: tools, resources and prompts, as any protocol can describe them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

T = TypeVar("T")

Schema = Mapping[str, object]
"""A JSON Schema (draft 2020-12) of an object."""


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """One tool.

    Args:
        name: Stable; what it is called by.
        title: For people.
        description: For the model: what it does and when to call it.
        arguments: Their schema; unknown ones are refused.
        answer: The schema of what it returns, its answer or a problem.
        reads: Whether it changes nothing.
        destroys: Whether it can take away what is there.
        repeats: Whether a repetition with the same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    arguments: Schema
    answer: Schema
    reads: bool
    destroys: bool
    repeats: bool


@dataclass(frozen=True, slots=True)
class Told:
    """What a call came to: the answer, or the problem where it was refused."""

    value: Mapping[str, object]
    text: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class ResourceOffer:
    """A kind of resource; ``template`` is a URI template (RFC 6570)."""

    name: str
    title: str
    description: str
    template: str


@dataclass(frozen=True, slots=True)
class PromptOffer:
    """A prompt; ``arguments`` are name and description of each, all optional."""

    name: str
    title: str
    description: str
    arguments: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Refused(Exception):  # noqa: N818 - an answer to a protocol, not an error of ours
    """A resource or prompt is not given; ``problem`` is what any route would answer."""

    problem: Mapping[str, object]


class Session(Protocol):
    """One caller, for the time of one message."""

    @property
    def tools(self) -> Sequence[ToolOffer]:
        """The tools, always in this order."""

    @property
    def resources(self) -> Sequence[ResourceOffer]:
        """The kinds of resources."""

    @property
    def prompts(self) -> Sequence[PromptOffer]:
        """The prompts."""

    async def call(self, name: str, arguments: Mapping[str, object]) -> Told | None:
        """Call a tool; ``None`` where there is none of that name."""

    async def read(self, uri: str) -> str:
        """Return a resource as JSON.

        Raises:
            Refused: It is not there for the caller.
        """

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str | None:
        """Return the text of a prompt; ``None`` where there is none of that name.

        Raises:
            Refused: It cannot be made for the caller.
        """

    async def answered(
        self, work: Callable[[], Awaitable[T]], refuse: Callable[[Exception], Awaitable[T]]
    ) -> T:
        """Return what *work* gives, or what *refuse* makes of its error."""

    def fail(self, error: Exception) -> Mapping[str, object]:
        """Log a defect under the request's id; return the problem that tells nothing of it."""
