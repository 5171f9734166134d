"""What people read on a terminal: nothing of it acts there."""

import click


def talk(sentence: str) -> None:
    """Tell people something that is no data."""
    click.echo(shown(sentence), err=True)


def shown(text: str) -> str:
    """Escape what would act on a terminal: a folder of backups may be others' to name files in."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
