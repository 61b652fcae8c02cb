"""What a controller keeps of a decision until its update: inputs, choice and reward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sero.encoders import Vector
from sero.evolution.policy import PolicyBatch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transition:
    """One decision with its inputs, from which log π is computed again at the update.

    Keeping inputs rather than a graph lets a checkpoint fall between two updates.

    Attributes:
        vector, roles, local, n_bonus: the observation, as there.
        operations: legal operations, bool. Shape (n_ops,).
        targets: roles the operation taken could name, bool. Shape (|P|,).
        operation: index of the operation taken.
        target: pool index it named, -1 for none.
        reward: R as the loss uses it.
    """

    vector: Vector
    roles: Vector
    local: Vector
    n_bonus: Vector
    operations: NDArray[np.bool_]
    targets: NDArray[np.bool_]
    operation: int
    target: int
    reward: float

    def to_state(self) -> dict[str, Any]:
        """Tensors and numbers for a checkpoint; the arrays are copied."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: torch.tensor(v) if isinstance(v, np.ndarray) else v for k, v in values.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Transition:
        """The inverse of `to_state`; the tensors are copied."""
        values: dict[str, Any] = {
            k: v.clone().numpy() if isinstance(v, Tensor) else v for k, v in state.items()
        }
        return cls(**values)


def stack(transitions: Sequence[Transition]) -> PolicyBatch:
    """Transitions as one batch of tensors, pools padded to the largest.

    Raises:
        ValueError: there is none.
    """
    if not transitions:
        raise ValueError("stack got no transitions; a batch holds at least one")
    return PolicyBatch(
        vector=torch.from_numpy(np.stack([t.vector for t in transitions])),
        roles=_padded([t.roles for t in transitions]),
        local=_padded([t.local for t in transitions]),
        n_bonus=_padded([t.n_bonus for t in transitions]),
        operations=torch.from_numpy(np.stack([t.operations for t in transitions])),
        operation=torch.tensor([t.operation for t in transitions]),
        targets=_padded([t.targets for t in transitions]),
        target=torch.tensor([t.target for t in transitions]),
    )


def _padded(rows: Sequence[NDArray[Any]]) -> Tensor:
    """Arrays of shape (P_i, ...) as one tensor (B, max P, ...), filled up with zeros."""
    widest = max(len(row) for row in rows)
    out = np.zeros((len(rows), widest, *rows[0].shape[1:]), dtype=rows[0].dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return torch.from_numpy(out)
