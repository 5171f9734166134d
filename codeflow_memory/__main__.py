"""Run the command line as ``python -m codeflow_memory``."""

import sys

from codeflow_memory.cli import main

if __name__ == "__main__":
    sys.exit(main())
