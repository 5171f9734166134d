"""Write the vectors: always the same bytes, whoever runs it.

python backup/vectors/generate.py [FOLDER]
"""

import json
import sys
from pathlib import Path

import headers
import sound
import streams
from vector import Vector


def vectors() -> list[Vector]:
    """Return all vectors, each under a name of its own."""
    made = [*sound.vectors(), *headers.vectors(), *streams.vectors()]
    names = [one.name for one in made]
    if len(set(names)) < len(names):
        raise ValueError(sorted(name for name in names if names.count(name) > 1))
    return made


def index(made: list[Vector]) -> str:
    """Return the index: the keys, then what each file is to be opened with and must answer."""
    keys = {one.key.name: one.key for one in made}
    listed = {
        "keys": {name: {"kind": k.kind, "file_hex": k.file.hex()} for name, k in keys.items()},
        "vectors": [one.entry() for one in made],
    }
    return json.dumps(listed, indent=1, ensure_ascii=True) + "\n"


def main(folder: Path) -> None:
    """Write all files to *folder*."""
    made = vectors()
    for one in made:
        (folder / f"{one.name}.cfmb").write_bytes(one.file())
    (folder / "index.json").write_text(index(made), "ascii")
    print(f"{len(made)} vectors")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
