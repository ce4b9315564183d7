"""Files that are there as a whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["whole_file"]


def __dir__() -> list[str]:
    return __all__


@contextmanager
def whole_file(path: str) -> Iterator[IO[bytes]]:
    """Open a file for writing, under another name until it is complete.

    If the block ends with an exception, Ctrl-C among them, what was there before stays as it was. What isn't a regular
    file, such as a pipe, is written to directly.

    Raises:
        OSError: It can't be written.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as direct:
            yield direct
        return
    target = os.path.realpath(path)  # a link stays one
    partial = f"{target}.{os.getpid()}.part"
    try:
        file = open(partial, "xb")  # noqa: SIM115  # it is closed below, before it gets its name
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with file:
            yield file
        os.replace(partial, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(partial)
        raise
