import gc
import weakref

from edgewise.allocation.instance.links import links_of
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.network.graph import Graph


def test_results_are_remembered_per_graph_and_not_per_value() -> None:
    seen: list[Graph] = []

    @per_graph
    def count(graph: Graph) -> int:
        seen.append(graph)
        return len(seen)

    first, twin = Graph.circle(n_nodes=3), Graph.circle(n_nodes=3)
    assert [count(first), count(twin), count(first)] == [1, 2, 1]


def test_a_graph_is_forgotten_when_nobody_holds_it() -> None:
    graph = Graph.circle(n_nodes=3)
    links_of(graph)
    watched = weakref.ref(graph)
    del graph
    gc.collect()
    assert watched() is None


def test_slots_tell_side_and_kind() -> None:
    graph = Graph.from_edges([(0, 1), (2, 0)], directed=True, kinds=[0, 1], weights=[2.0, 3.0])
    links = links_of(graph)
    # node 0 is the first of an edge of kind 0 and the second of one of kind 1
    assert links.slots[links.starts[0] : links.starts[1]].tolist() == [0, 3]
    assert links.weights[links.starts[0] : links.starts[1]].tolist() == [2.0, 3.0]
    assert links.twins.tolist() == [2, 3, 0, 1]
