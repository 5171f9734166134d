"""The plaintext of a backup: manifest, files, trailer, each checked against the others."""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise

from codeflow_backup import manifest
from codeflow_backup.container import Payload
from codeflow_backup.errors import DamagedError
from codeflow_backup.manifest import LENGTH_BYTES, File, Manifest


def read_manifest(payload: Payload) -> Manifest:
    """Read what the backup holds, and check that the plaintext is as long as that says.

    Raises:
        DamagedError: A chunk, the manifest, the trailer or the length is not what was written.
    """
    length = int.from_bytes(payload.read(LENGTH_BYTES, 0), "big")
    if length > manifest.MAX_BYTES:
        raise DamagedError(f"the manifest is longer than {manifest.MAX_BYTES} bytes")
    encoded = payload.read(length, LENGTH_BYTES)
    if len(encoded) < length:
        raise DamagedError("the plaintext ends within its manifest")
    found = manifest.parse(encoded)
    trailer = found.trailer()
    if payload.bytes != found.total():
        raise DamagedError("the plaintext is not as long as its manifest says")
    if payload.read(len(trailer), found.offsets()[-1]) != trailer:
        raise DamagedError("the trailer does not repeat what the manifest says")
    return found


def read_files(payload: Payload, found: Manifest) -> Iterator[tuple[File, bytes]]:
    """Yield each file with its content, in pieces of at most a chunk and in order.

    An empty file has one empty piece. Every chunk of the payload is authenticated on the way, each
    before its piece is yielded.

    Raises:
        DamagedError: A chunk is not what was written, something follows the last one, or a file
            does not have the digest that the manifest gives: raised after its last piece.
    """
    pieces = _pieces(payload, found)
    for file in found.files:
        digest, left = hashlib.sha256(), file.bytes
        for piece in pieces if left else iter((b"",)):
            digest.update(piece)
            yield file, piece
            left -= len(piece)
            if not left:
                break
        if digest.hexdigest() != file.sha256:
            raise DamagedError(f"the file {file.name} is not what the manifest says")
    # The chunks after the last file hold no piece: they are authenticated, and the end is checked.
    next(pieces, None)


def _pieces(payload: Payload, found: Manifest) -> Iterator[bytes]:
    """Yield the content of the files, cut where a chunk or a file ends, and check the rest too."""
    borders = found.offsets()
    begin = 0
    for chunk in payload.chunks():
        end = begin + len(chunk)
        within = borders[bisect_right(borders, begin) : bisect_left(borders, end)]
        for start, stop in pairwise((begin, *dict.fromkeys(within), end)):
            if borders[0] <= start < borders[-1]:
                yield chunk[start - begin : stop - begin]
        begin = end
