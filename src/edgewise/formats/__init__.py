"""Files to values: graphs, arms, matrices, candidates, measurements, with the user's own names.

Every reader takes a path, chooses the format by the file's extension, and either returns a value
or raises :class:`~edgewise.errors.InvalidFile` naming the file, the line and the remedy.
"""

from edgewise.formats.arms import ArmTable, read_arms
from edgewise.formats.candidates import read_candidates, read_joint_arm, read_node_kinds
from edgewise.formats.graphs import read_graph
from edgewise.formats.matrices import read_matrix, read_node_term
from edgewise.formats.measurements import RoundRewards, parse_rewards, read_rewards
from edgewise.formats.writing import check_writable, write_rows

__all__ = [
    "ArmTable",
    "RoundRewards",
    "check_writable",
    "parse_rewards",
    "read_arms",
    "read_candidates",
    "read_graph",
    "read_joint_arm",
    "read_matrix",
    "read_node_kinds",
    "read_node_term",
    "read_rewards",
    "write_rows",
]
