"""The CODEOWNERS file of a repository, as the default branch has it."""

from codeflow_memory.adapters.git import Repository
from codeflow_memory.domain.codeowners import LOCATIONS, MAX_BYTES, OwnerRule, parse_codeowners
from codeflow_memory.domain.errors import InvalidRequestError


def read_codeowners(repository: Repository) -> tuple[OwnerRule, ...]:
    """Read the first of `LOCATIONS` that exists at the default branch's head.

    Returns:
        Its rules; empty where the branch has no such file, so that nothing is owned.

    Raises:
        CodeflowError: It cannot be told who owns what: there is no commit yet, or something is in
            the file's place that is a link, too long or not UTF-8. Nobody may take that for
            "nothing is owned".
    """
    commit = repository.default_branch()
    if commit is None:
        raise InvalidRequestError.at("/repo", "the default branch has no commit")
    for path in LOCATIONS:
        if repository.has(commit, path):
            return parse_codeowners(_read(repository, commit, path))
    return ()


def _read(repository: Repository, commit: str, path: str) -> str:
    content = repository.blob(commit, path)
    if content is None or len(content) > MAX_BYTES:
        raise InvalidRequestError.at("/repo", f"{path} is not a file that can be read")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequestError.at("/repo", f"{path} is not UTF-8") from None
