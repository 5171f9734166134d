"""One backup file: a header, then the plaintext as a stream of sealed chunks.

``FORMAT.md`` has it byte by byte. Memory stays at a few chunks, whatever the size.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from codeflow_backup import header, slots, stream
from codeflow_backup.ciphers import KEY_BYTES, Cipher, derive
from codeflow_backup.errors import DamagedError, UnusableError, WrongKeyError
from codeflow_backup.header import Core, Header
from codeflow_backup.keys import Secret
from codeflow_backup.slots import Prepared, Slot
from codeflow_backup.stream import CHUNK_BYTES, SEALED_BYTES

_PAYLOAD = b"codeflow-backup 1 payload"
_KEPT_CHUNKS = 8
"""Decrypted chunks that reads at offsets keep: half a MiB, which neighbouring pages share."""


def payload_cipher(core: Core, data_key: bytes) -> Cipher:
    """Return the cipher of the payload.

    Its key depends on the core only: slots come and go and the payload stays as it is.
    """
    return Cipher(core.suite, derive(data_key, core.digest(), _PAYLOAD))


class Writer:
    """Writes one backup under a new data key: the header at once, then chunks as they fill.

    Args:
        file: Open for writing at its start; the caller syncs it.
        core: With a backup id and nonce prefix of its own.
        keys: 1 to 16; each gets a slot, in this order.

    Raises:
        DamagedError: The core has a value that no reader would take, or the keys are too many.
        OSError: From the file, here and below.
    """

    def __init__(self, file: BinaryIO, core: Core, keys: Sequence[Prepared]) -> None:
        data_key = os.urandom(KEY_BYTES)
        made = (slots.wrap(key, data_key, core.digest(), n) for n, key in enumerate(keys, start=1))
        file.write(Header(core, tuple(made)).encode(data_key))
        self._file = file
        self._prefix = core.nonce_prefix
        self._cipher = payload_cipher(core, data_key)
        self._counter = 0
        self._pending = bytearray()
        self._finished = False

    def write(self, data: bytes) -> None:
        """Add *data* to the plaintext.

        Raises:
            UnusableError: The plaintext has more chunks than a nonce can count.
        """
        if self._finished:
            raise ValueError("the backup is finished")
        left = memoryview(data)
        while left:
            # A full chunk waits until more comes: only then is it known not to be the last.
            if len(self._pending) == CHUNK_BYTES:
                self._seal(last=False)
            taken = left[: CHUNK_BYTES - len(self._pending)]
            self._pending += taken
            left = left[len(taken) :]

    def finish(self) -> None:
        """Write the last chunk; without it no reader takes the file.

        Raises:
            UnusableError: The plaintext has more chunks than a nonce can count.
        """
        if self._finished:
            raise ValueError("the backup is finished")
        self._seal(last=True)
        self._finished = True
        self._file.flush()

    def _seal(self, *, last: bool) -> None:
        if self._counter >= stream.MAX_CHUNKS:
            raise UnusableError("the backup has more chunks than its format can count")
        nonce = stream.nonce(self._prefix, self._counter, last=last)
        self._file.write(self._cipher.seal(nonce, bytes(self._pending)))
        self._counter += 1
        self._pending.clear()


class Payload:
    """The plaintext of an unlocked backup; nothing of it is given out before it authenticated.

    One reader at a time: it seeks in the file.

    Args:
        bytes: Of plaintext.
    """

    def __init__(self, file: BinaryIO, start: int, core: Core, cipher: Cipher) -> None:
        self._file = file
        self._start = start
        self._end = file.seek(0, os.SEEK_END)
        self._prefix = core.nonce_prefix
        self._cipher = cipher
        self._layout = stream.layout(self._end - start)
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self.bytes = self._layout.bytes
        # The last chunk first: a file that was cut or lengthened yields not even its beginning.
        self._open(self._layout.chunks - 1)

    def chunks(self) -> Iterator[bytes]:
        """Yield the plaintext in order, chunk by chunk.

        Raises:
            DamagedError: A chunk is not what was written, or something follows the last one; what
                was yielded before is authentic, but not the whole.
        """
        for index in range(self._layout.chunks):
            yield self._open(index)
        self._file.seek(self._end)
        if self._file.read(1):
            raise DamagedError("something follows the last chunk")

    def read(self, length: int, offset: int) -> bytes:
        """Return *length* bytes of the plaintext from *offset*, fewer at its end.

        Only the chunks that hold them are decrypted, and a few are kept.

        Raises:
            DamagedError: A chunk that holds them is not what was written.
        """
        end = min(offset + length, self.bytes)
        parts = []
        while offset < end:
            index, within = divmod(offset, CHUNK_BYTES)
            part = self._chunk(index)[within : within + end - offset]
            parts.append(part)
            offset += len(part)
        return b"".join(parts)

    def _chunk(self, index: int) -> bytes:
        kept = self._kept.get(index)
        if kept is None:
            kept = self._kept[index] = self._open(index)
            if len(self._kept) > _KEPT_CHUNKS:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(index)
        return kept

    def _open(self, index: int) -> bytes:
        self._file.seek(self._start + index * SEALED_BYTES)
        sealed = self._file.read(self._layout.sealed(index))
        last = index == self._layout.chunks - 1
        plain = self._cipher.open(stream.nonce(self._prefix, index, last=last), sealed)
        if plain is None:
            raise DamagedError(f"chunk {index + 1} of the payload is not what was written")
        return plain


class Reader:
    """Reads the header of a backup, which takes no key.

    Args:
        file: Open for reading at its start, and able to seek; it stays the caller's.

    Raises:
        UnknownVersionError: A format, suite or kind of key that this program does not know.
        DamagedError: The file does not begin with the header that was written.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sealed = header.read(file)
        self.core: Core = self._sealed.header.core
        self.slots: tuple[Slot, ...] = self._sealed.header.slots

    @property
    def payload_at(self) -> int:
        """Where in the file the payload begins."""
        return self._sealed.payload_at

    def check_structure(self) -> None:
        """Check without a key that the payload has the length of one.

        Raises:
            DamagedError: It has not.
        """
        stream.layout(self._file.seek(0, os.SEEK_END) - self.payload_at)

    def find_data_key(self, secrets: Sequence[Secret]) -> bytes:
        """Unwrap the data key and prove the header with it.

        Args:
            secrets: Tried in this order, each at every slot of its kind.

        Raises:
            WrongKeyError: None of them opens a slot.
            DamagedError: One does, and the rest of the header is not what was written; or the
                payload does not have the length of one.
            UnusableError: This machine does not have the memory that a slot asks for.
        """
        self.check_structure()
        data_key = slots.find_data_key(self.slots, self.core.digest(), secrets)
        if data_key is None:
            raise WrongKeyError("no key slot of the backup opens with what was given")
        self.prove(data_key)
        return data_key

    def prove(self, data_key: bytes) -> None:
        """Prove that the header was written with *data_key*.

        Raises:
            DamagedError: It was not.
        """
        self._sealed.check(data_key)

    def unlock(self, secrets: Sequence[Secret]) -> Payload:
        """Open the payload with the first of *secrets* that fits; errors as `find_data_key`."""
        return self.payload(self.find_data_key(secrets))

    def payload(self, data_key: bytes) -> Payload:
        """Open the payload with its data key.

        Raises:
            DamagedError: Its end is not what was written.
        """
        cipher = payload_cipher(self.core, data_key)
        return Payload(self._file, self.payload_at, self.core, cipher)
