"""Configuration: ``config.toml`` in the home, or the file that ``CODEFLOW_CONFIG`` names."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from codeflow_memory.domain.errors import Fault, InvalidRequestError

FILE = "config.toml"
VARIABLE = "CODEFLOW_CONFIG"
"""Names another file, which must be there."""


class Table(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Repositories(Table):
    """Which folders of this machine the server may read repositories in."""

    roots: tuple[Path, ...] = ()

    @model_validator(mode="after")
    def _absolute(self) -> "Repositories":
        for root in self.roots:
            if not root.is_absolute():
                raise ValueError("each root is an absolute path")
        return self


class Limits(Table):
    """Requests a minute, and failed sign-ins a quarter of an hour."""

    requests_per_minute_token: int = Field(default=600, ge=1)
    requests_per_minute_tenant: int = Field(default=6_000, ge=1)
    failed_sign_ins: int = Field(default=20, ge=1)


class Clock(Table):
    """Shifts every clock of the program forward, for tests and operators."""

    offset_seconds: int = Field(default=0, ge=0)
    allow_offset: bool = False

    @model_validator(mode="after")
    def _allowed(self) -> "Clock":
        if self.offset_seconds and not self.allow_offset:
            raise ValueError("offset_seconds needs allow_offset = true")
        return self


class Server(Table):
    """The ``host:port`` values under which the server is reached beside those of loopback."""

    hosts: tuple[str, ...] = ()


class Logging(Table):
    """What a server writes to stderr, a JSON object a line; of a request its end alone."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    requests: bool = False


class Settings(Table):
    """Everything that an operator sets."""

    repositories: Repositories = Repositories()
    limits: Limits = Limits()
    clock: Clock = Clock()
    server: Server = Server()
    logging: Logging = Logging()


def path_of(home: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file that configures *home*, whether it is there or not."""
    named = environment.get(VARIABLE)
    return Path(named) if named else home / FILE


def load(home: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read the configuration of *home*; without a file the defaults hold.

    Raises:
        InvalidRequestError: The file is not TOML, or a key of it is unknown or wrong; the pointers
            name the keys.
    """
    path = path_of(home, environment)
    if path.exists() and not path.is_file():
        raise InvalidRequestError.at(path.name, "is no regular file")
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        if environment.get(VARIABLE):
            raise InvalidRequestError.at(VARIABLE, "no such file") from None
        return Settings()
    except (OSError, UnicodeDecodeError):
        raise InvalidRequestError.at(path.name, "cannot be read as UTF-8 text") from None
    return parse(text, path.name)


def parse(text: str, name: str) -> Settings:
    """Read configuration from TOML *text*; *name* stands in errors.

    Raises:
        InvalidRequestError: Not TOML, or a key is unknown or wrong.
    """
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequestError.at(name, f"is not TOML: {error}") from None
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise InvalidRequestError(
            [
                Fault("/".join([name, *map(str, fault["loc"])]), fault["msg"])
                for fault in error.errors(include_url=False, include_input=False)
            ]
        ) from None
