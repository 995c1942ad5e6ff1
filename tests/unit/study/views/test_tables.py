"""Data out: measurements, configurations, rounds, log and recommendation as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.farm import PROBLEM, endless, measure, run

import edgewise as ew
from edgewise.errors import InvalidArgument
from edgewise.formats.parquet import read_parquet, write_parquet
from edgewise.formats.rounds import read_configurations, read_round_rewards
from edgewise.study.views.tables import table_of
from edgewise.writing import write_text


def study() -> ew.Study:
    made = run(ew.Study.create("farm", PROBLEM, **endless()), 2)
    made.add(1, measure(77, np.ones(4, int)), source="by hand")
    ticket = made.ask()
    made.cancel(ticket)
    made.tell(made.ask(), {("a", "b"): 0.5})
    return made


def test_measurements_name_arcs_arms_and_gaps() -> None:
    made = study()
    frame = made.to_frame()
    columns = ["round", "source", "target", "source_arm", "target_arm", "reward"]
    assert frame.columns.tolist() == columns
    assert len(frame) == 4 * 10
    first = frame[frame["round"] == "1"]
    assert first["reward"].tolist() == made.rewards(1).tolist()
    arms = {row["node"]: row["arm"] for row in made.ticket(1).table()}
    assert first["source_arm"].tolist() == [arms[node] for node in first["source"]]
    out = frame[frame["round"] == "4.2"]
    assert out["reward"].notna().sum() == 1


def test_rounds_say_where_they_come_from() -> None:
    made = study()
    frame = made.to_frame("rounds")
    assert frame["round"].tolist() == ["1", "2", "3", "4.2"]
    assert frame["source"].tolist() == ["", "", "by hand", ""]
    assert frame["missing"].tolist() == [0, 0, 0, 9]
    assert frame["total"][0] == pytest.approx(made.rewards(1).sum())
    assert pd.isna(frame["total"][3])
    assert pd.to_datetime(frame["asked"]).dt.tz is not None
    assert frame["phase"].tolist() == [made.now().cursor.state.phase_of(t) for t in (1, 2, 3, 4)]


def test_the_log_and_the_recommendation() -> None:
    made = study()
    log = made.to_frame("log")
    assert log["event"].tolist() == list(range(1, 11))
    assert log["kind"].tolist()[:3] == ["created", "asked", "told"]
    assert log["what"].tolist()[-1] == "round 4: 1 measurement told, 9 missing"
    assert made.to_frame("recommendation").to_dict("records") == made.recommend().table()
    with pytest.raises(InvalidArgument, match="did you mean 'rounds'"):
        made.to_frame("round")


@pytest.mark.parametrize("measured", ["node", "total", "link"])
def test_other_measurements_name_what_they_are_of(measured: Any) -> None:
    problem = ew.Problem(PROBLEM.graph, np.eye(2), noise=0.5, measured=measured)
    made = ew.Study.create("farm", problem, rng=0)
    made.tell(made.ask(), np.arange(problem.n_rewards))
    columns = {
        "node": ["round", "node", "arm", "reward"],
        "total": ["round", "reward"],
        "link": ["round", "source", "target", "source_arm", "target_arm", "reward"],
    }
    frame = made.to_frame()
    assert frame.columns.tolist() == columns[measured]
    assert frame["reward"].tolist() == list(range(problem.n_rewards))


def test_what_goes_out_comes_back_in(tmp_path: Path) -> None:
    """Tables of one study are rounds from outside for another."""
    from edgewise.formats.output import as_csv

    made = run(ew.Study.create("farm", PROBLEM, **endless()), 3)
    for what in ("configurations", "measurements"):
        write_text(tmp_path / f"{what}.csv", as_csv(table_of(made, what)))
    arms = read_configurations(tmp_path / "configurations.csv", PROBLEM)
    rewards = read_round_rewards(tmp_path / "measurements.csv", PROBLEM)
    other = ew.Study.create("other", PROBLEM, **endless())
    other.add(np.array(list(arms.values())), list(rewards.values()))
    for number in (1, 2, 3):
        assert other.rewards(number).tolist() == made.rewards(number).tolist()
        assert other.ticket(number).arms.tolist() == made.ticket(number).arms.tolist()


def test_parquet_keeps_numbers_and_gaps(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    write_parquet(file, ("node", "reward"), [("a", 0.1), (7, None)])
    assert pd.read_parquet(file)["node"].tolist() == ["a", "7"]
    assert pd.read_parquet(file)["reward"].tolist()[0] == 0.1
    assert read_parquet(file).columns["reward"][1] == ""
