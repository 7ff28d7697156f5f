"""Exceptions of sunny16. Messages are those that the program prints."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """Base of all exceptions of sunny16.

    Attributes:
        exit_code: exit code of the program with this error, 1 to 130.
        file: the file that the error is about; None if it is about none.
        line: line of the property in a look file, from 1; None if unknown.
        column: column of the property's name, from 1; None if unknown.
    """

    def __init__(
        self,
        message: str,
        exit_code: int = 1,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
    ) -> None:
        super().__init__(message, exit_code, file, line, column)
        self.exit_code = exit_code
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return str(self.args[0])


class UsageError(Error, ValueError):
    """An argument is invalid, or contradicts the scene or the look."""


class LookError(Error):
    """A look file or an override of ``set`` cannot be applied."""


class SceneError(Error):
    """The scene file cannot be imported."""


class PictureError(Error):
    """A picture cannot be read or compared."""


class OutputError(Error):
    """A file cannot be written."""


class DeviceError(Error):
    """No usable Vulkan device, or out of its memory."""


class DeviceLostError(DeviceError):
    """The device was lost; the next call opens it again."""


class Canceled(Error):
    """The progress callback has returned False."""


class InternalError(Error):
    """A bug of sunny16."""
