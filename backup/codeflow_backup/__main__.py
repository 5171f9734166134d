"""``python -m codeflow_backup``: the same as the command ``codeflow-backup``."""

import sys

from codeflow_backup.cli import main

if __name__ == "__main__":
    sys.exit(main())
