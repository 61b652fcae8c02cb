"""The errors Sero raises, and what each means for a run.

    SeroError
    ├── UserError                 the user can mend it; exit code 2
    │   ├── ConfigError           faults in the configuration, all of them
    │   ├── CardError             faults in role cards or a pool, all of them
    │   ├── RosterError           faults in roles, candidates and scores of an assignment
    │   ├── DataError             a split that is missing, damaged or leaks
    │   └── RunConflict           the run directory holds a different configuration, or is in use
    ├── BackboneError             a broken machine, never a score; exit code 75, resumable
    │   ├── ServerUnavailable     cannot be reached, or still failing when the retries ran out
    │   ├── DeadlineExceeded      no answer within the call's total deadline
    │   ├── MalformedReply        a reply that is not a chat completion
    │   ├── ServerNotReady        a server started here that ended, or took too long to be ready
    │   ├── ScorerLost            the process that was scoring an answer was killed from outside
    │   └── RequestRejected       refused: 400, 401, 404 ...; not retried; exit code 2
    ├── BudgetSpent               a budget ran out; the run is saved; exit code 75, resumable
    └── StorageError              the disk refused a write; the last checkpoint holds; exit code 74

A wrong or unparsable *answer* is data and never appears here.
"""

from __future__ import annotations

from collections.abc import Sequence


class SeroError(Exception):
    """Anything Sero raises on purpose. `exit_code` is what a script ends with."""

    exit_code = 1


class UserError(SeroError):
    """A mistake the user can mend; the message says where, what, and how."""

    exit_code = 2


class FaultList(UserError):
    """Several faults of one document, reported together.

    Args:
        where: the file or object the faults are in.
        faults: one line each, `path: what was found; what is accepted`.
    """

    what = "document"

    def __init__(self, where: str, faults: Sequence[str]) -> None:
        self.where = where
        self.faults = tuple(faults)
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(f"{where}: {len(self.faults)} problem(s) in the {self.what}\n{lines}")


class ConfigError(FaultList):
    what = "configuration"


class CardError(FaultList):
    what = "role cards"


class RosterError(FaultList):
    what = "roster"


class DataError(UserError):
    """A benchmark's data is missing, damaged, of another size, or leaks held-out items.

    `faults` are the single ones, where there is a list of them.
    """

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults) or (message,)


class RunConflict(UserError):
    """The run directory belongs to another configuration or to a running process."""


class BackboneError(SeroError):
    """The model server failed; the episode or item is not scored."""

    exit_code = 75


class ServerUnavailable(BackboneError):
    """Connection errors, 408, 409, 429 or 5xx beyond the last retry.

    `status` is the last HTTP status, or None when no answer came at all.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class DeadlineExceeded(BackboneError):
    """The call's total deadline passed, retries included."""


class MalformedReply(BackboneError):
    """The server answered 200 with something that is not a chat completion."""


class ServerNotReady(BackboneError):
    """A server that Sero started ended or did not become healthy; with the end of its log."""


class ScorerLost(BackboneError):
    """A scorer's process went away, twice, by no fault of the answer: the item is not scored."""


class RequestRejected(BackboneError):
    """The server refused the request itself; sending it again would not help."""

    exit_code = 2

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def blames_the_request(self) -> bool:
        """This one request is refused (400, 413, 422), rather than everybody's (401, 404 ...)."""
        return self.status in (400, 413, 422)


class BudgetSpent(SeroError):
    """A limit of the `budget` section was reached; the run was saved and can go on."""

    exit_code = 75


class StorageError(SeroError):
    """A write failed, usually a full disk; the message names the directory."""

    exit_code = 74
