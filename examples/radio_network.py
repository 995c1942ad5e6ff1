"""Antenna tilts of a radio network in CRRM: explore, compare with today, confirm.

``pip install 'edgewise[cells]'``, then ``python examples/radio_network.py``: about ten seconds.
"""

from edgewise.integrations.cells import EXPLORE, RadioEnvironment, RadioNetwork
from edgewise.integrations.confirming import advice, confirm
from edgewise.integrations.gains import explain, outcome_of
from edgewise.integrations.running import explore


def main() -> None:
    """Thirty rounds on twelve cells."""
    network = RadioNetwork.random(seed=5, n_sites=4)
    system = RadioEnvironment.of(network)  # CRRM plays your network
    run = explore(system, EXPLORE, marks=[30], rng=0)
    outcome = outcome_of(system, run)
    print(explain(outcome, "the network", "the best common tilt"))
    answer = run.estimate.allocation.arms
    trial = confirm(system, answer, rng=1)
    print(advice(trial, outcome.expected, outcome.gained))
    for cell, tilt in zip(network.cell_names, system.task.tilts(answer), strict=True):
        print(f"{cell}: {tilt:g} degrees")


if __name__ == "__main__":
    main()
