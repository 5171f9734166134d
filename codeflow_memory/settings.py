"""Configuration: ``config.toml`` in the home, or the file that ``CODEFLOW_CONFIG`` names."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.memory import Collection, Kind, Status
from codeflow_memory.domain.retention import MAX_DAYS, OUT_OF_SERVICE, Policy
from codeflow_memory.storage.home import find_server

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


class Database(Table):
    """Where the tenants are: files of the home, or the PostgreSQL database of this `url`.

    `--database`, the credential `codeflow-database` and `CODEFLOW_DATABASE` win over it, in this
    order. A password in it is shown nowhere; without one the file that `PGPASSFILE` names is asked.
    """

    url: SecretStr | None = None

    @field_validator("url")
    @classmethod
    def _known(cls, url: SecretStr | None) -> SecretStr | None:
        if url is None:
            return None
        address = find_server(url.get_secret_value())
        if address is None:
            raise ValueError("a database is postgresql://user@host/name")
        return SecretStr(address)


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


def _several(value: object) -> object:
    """Let one word stand for a list of one."""
    return [value] if isinstance(value, str) else value


_Days = Annotated[int | None, Field(ge=1, le=MAX_DAYS, strict=True)]


class Retention(Table):
    """What is deleted by age, a table for each policy; the server applies all once a day.

    `collection`, `kind` and `status` are a word or a list of words and narrow a policy. Without
    `status` it takes only what is out of service: rejected, outdated, superseded and archived;
    accepted and proposed entries go only where they are named, deleted ones never. One of the ages
    must be given, and both count where both are: `older_than_days` since the last change of any
    kind, `unused_days` since the last place in a selection's manifest, judgement or change.
    """

    collection: Annotated[frozenset[Collection], BeforeValidator(_several)] = frozenset()
    kind: Annotated[frozenset[Kind], BeforeValidator(_several)] = frozenset()
    status: Annotated[frozenset[Status], BeforeValidator(_several)] = frozenset()
    older_than_days: _Days = None
    unused_days: _Days = None

    @model_validator(mode="after")
    def _aged(self) -> "Retention":
        if self.older_than_days is None and self.unused_days is None:
            raise ValueError("older_than_days or unused_days is required: it would take everything")
        for name in ("collection", "kind", "status"):
            if name in self.model_fields_set and not getattr(self, name):
                raise ValueError(f"{name} must not be empty: leave it out for all")
        if Status.DELETED in self.status:
            raise ValueError("status must not be deleted: nothing is left of it to remove")
        return self

    def policy(self) -> Policy:
        """Return the policy that the table says."""
        return Policy(
            self.collection,
            self.kind,
            self.status or OUT_OF_SERVICE,
            self.older_than_days,
            self.unused_days,
        )


class Settings(Table):
    """Everything that an operator sets."""

    repositories: Repositories = Repositories()
    database: Database = Database()
    limits: Limits = Limits()
    clock: Clock = Clock()
    server: Server = Server()
    logging: Logging = Logging()
    retention: tuple[Retention, ...] = ()

    def policies(self) -> tuple[Policy, ...]:
        """Return the policies of retention, in the order of the file."""
        return tuple(table.policy() for table in self.retention)


class Policies(Table):
    """A file of policies alone, in place of those of the configuration."""

    retention: tuple[Retention, ...]

    @model_validator(mode="after")
    def _some(self) -> "Policies":
        if not self.retention:
            raise ValueError("at least one [[retention]] table is required")
        return self


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
    except (FileNotFoundError, NotADirectoryError):
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
    return _parsed(Settings, text, name)


def load_policies(path: Path) -> tuple[Policy, ...]:
    """Read policies of retention from a TOML file of ``[[retention]]`` tables.

    Raises:
        InvalidRequestError: It cannot be read, is not TOML, has no policy, or a key is unknown or
            wrong; the pointers name the keys.
    """
    try:
        text = path.read_text("utf-8") if path.is_file() else None
    except (OSError, UnicodeDecodeError):
        text = None
    if text is None:
        raise InvalidRequestError.at(path.name, "cannot be read as a file of UTF-8 text")
    tables = _parsed(Policies, text, path.name).retention
    return tuple(table.policy() for table in tables)


T = TypeVar("T", bound=Table)


def _parsed(model: type[T], text: str, name: str) -> T:
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequestError.at(name, f"is not TOML: {error}") from None
    except RecursionError:
        raise InvalidRequestError.at(name, "is nested too deep") from None
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidRequestError(
            [
                Fault("/".join([name, *map(str, fault["loc"])]), fault["msg"])
                for fault in error.errors(include_url=False, include_input=False)
            ]
        ) from None
