"""The commands of ``codeflow-backup``."""

import rich_click

from codeflow_backup import commands, key_commands, shelf_commands

root = rich_click.RichGroup(
    name="codeflow-backup",
    help="Encrypted backups of a home of Code Flow Memory; no server is needed.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    commands=[
        commands.create,
        commands.verify,
        commands.restore,
        shelf_commands.list_backups,
        shelf_commands.prune,
        key_commands.keygen,
        key_commands.add_key,
        key_commands.remove_key,
        key_commands.sign,
    ],
)
