"""Write the vectors: always the same bytes, whoever runs it.

python backup/vectors/generate.py [FOLDER]
"""

import json
import sys
from pathlib import Path

import forgeries
import headers
import sound
import streams
import versions
from vector import Vector


def vectors() -> list[Vector]:
    """Return all vectors, each under a name of its own."""
    parts = (sound, headers, versions, forgeries, streams)
    made = [one for part in parts for one in part.vectors()]
    names = [one.name for one in made]
    if len(set(names)) < len(names):
        raise ValueError(sorted(name for name in names if names.count(name) > 1))
    return made


def index(made: list[Vector]) -> str:
    """Return the index, a line for each key and vector."""
    used = {one.key.name: one.key for one in made}
    keys = {name: {"kind": k.kind, "file_hex": k.file.hex()} for name, k in used.items()}
    named = (f"  {json.dumps(name)}: {json.dumps(key)}" for name, key in keys.items())
    listed = (f"  {json.dumps(one.entry())}" for one in made)
    lines = '{\n "keys": {\n', ",\n".join(named), '\n },\n "vectors": [\n', ",\n".join(listed)
    return "".join(lines) + "\n ]\n}\n"


def main(folder: Path) -> None:
    """Write all files to *folder*."""
    made = vectors()
    for one in made:
        (folder / f"{one.name}.cfmb").write_bytes(one.file())
    (folder / "index.json").write_text(index(made), "ascii")
    print(f"{len(made)} vectors")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
