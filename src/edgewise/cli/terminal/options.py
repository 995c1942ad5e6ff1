"""Arguments and options that several commands take, described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from edgewise.cli.terminal.choice import one_of
from edgewise.cli.terminal.shell import Format

GraphSource: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH",
        show_default=False,
        help="File: .csv (edge list with columns source,target and, if wanted, kind, weight, "
        "directed), .graphml, .mtx, .npy, .npz, .parquet or .txt (Max-Cut instance). Or a family "
        "and its number of observed directions: circle:156, star:156, complete:156, matching:156.",
    ),
]
ArmsSource: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="ARMS",
        show_default=False,
        help="File: .csv (a header, then a line per arm: name and features) or .npy (K, d). "
        "Or paper:d:omega, the arms of the paper's experiments, such as paper:5:0.1.",
    ),
]
MatrixSource: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="MATRIX",
        show_default=False,
        help="File: .csv (d lines of d numbers; with a column kind, d lines for every kind of "
        "edge) or .npy, (d, d) or (kinds, d, d). Or paper:d:omega.",
    ),
]
OutputFormat: TypeAlias = Annotated[
    str,
    one_of(
        "output format",
        {known.value: known for known in Format},
        "--format",
        "-f",
        text="How the answer is written to stdout.",
    ),
]
Beta: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Node term: d numbers, or one line per kind."),
]
CandidatesFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Allowed arms: columns node,arm; other nodes take any."),
]
Delta: TypeAlias = Annotated[
    float, typer.Option(help="Largest probability of a wrong answer, between 0 and 1.")
]
Noise: TypeAlias = Annotated[
    float, typer.Option(help="Standard deviation of the noise of one observed reward.")
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="The same seed gives the same answer.")]
Project: TypeAlias = Annotated[
    bool,
    typer.Option("--project", help="Work in the span of arms that do not span all dimensions."),
]
Plot: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also draw a figure: .png, .svg or .pdf."),
]
