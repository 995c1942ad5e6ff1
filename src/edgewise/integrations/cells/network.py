"""A radio network: masts with sectors, and where its users are."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.randomness import Rng, generator
from edgewise.errors import InvalidArgument
from edgewise.formats.files import FilePath, blaming
from edgewise.integrations.cells.pattern import TiltPattern
from edgewise.integrations.places import closest_pair

_CLOSEST = 10.0
"""Metres between two sites at least: closer ones are one site, or a mistyped place."""
_HEIGHTS = (10.0, 150.0)
"""Metres that a mast may be high: what the path loss model (3GPP urban macro) is for."""
USER_HEIGHT = 1.5
"""Metres above ground of every user."""


@dataclass(frozen=True, eq=False)
class HotSpots:
    """Where users crowd: Gaussian clouds around centres."""

    centres: Array
    """(H, 2) metres east and north."""
    radii: Array
    """(H,) standard deviation of a cloud in metres."""
    shares: Array
    """(H,) of all users; the rest are everywhere alike."""

    def __post_init__(self) -> None:
        centres = np.asarray(self.centres, dtype=float).reshape(-1, 2)
        radii, shares = (np.asarray(v, dtype=float) for v in (self.radii, self.shares))
        if not len(centres) == len(radii) == len(shares):
            raise InvalidArgument(
                f"{len(centres)} hot spots have {len(radii)} radii and {len(shares)} shares of "
                "users; give one of each"
            )
        numbers = np.concatenate([centres.ravel(), radii, shares])
        fine = np.isfinite(numbers).all() and (radii > 0).all() and (shares >= 0).all()
        if not fine or shares.sum() > 1.0 + 1e-9:
            raise InvalidArgument(
                f"hot spots have radii {radii.tolist()} and shares {shares.tolist()}; radii must "
                "be above 0, shares at least 0 and 1 in all at most"
            )
        for name, value in (("centres", centres), ("radii", radii), ("shares", shares)):
            object.__setattr__(self, name, frozen(value, float))

    @classmethod
    def none(cls) -> HotSpots:
        """Users are everywhere alike."""
        return cls(np.zeros((0, 2)), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False, repr=False)
class RadioNetwork:
    """Masts with sector antennas, and where users are.

    Parameters
    ----------
    sites
        (S, 2) metres east and north.
    masts
        (S,) heights of the antennas above ground in metres.
    site_of_cell
        (C,) the site that each cell (sector) stands on, ascending.
    azimuths
        (C,) where each cell looks, in degrees clockwise from north.
    hot_spots
        Where users crowd; by default nowhere.
    margin
        Users are up to so many metres outside the rectangle around all sites.
    pattern
        Of every antenna.
    power
        Watts of every cell.
    names
        (S,) of the sites; by default s0, s1, ...

    Examples
    --------
    >>> RadioNetwork.random(seed=5)
    RadioNetwork(27 cells on 9 sites, 6 hot spots)
    """

    sites: Array
    masts: Array
    site_of_cell: Indices
    azimuths: Array
    _: KW_ONLY
    hot_spots: HotSpots = field(default_factory=HotSpots.none)
    margin: float = 300.0
    pattern: TiltPattern = field(default_factory=TiltPattern)
    power: float = 40.0
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        sites = np.asarray(self.sites, dtype=float)
        if sites.ndim != 2 or sites.shape[1] != 2 or not len(sites):
            raise InvalidArgument(
                f"sites have shape {sites.shape}; give metres east and north of every site, shape "
                "(n_sites, 2)"
            )
        names = self.names
        names = tuple(f"s{i}" for i in range(len(sites))) if names is None else tuple(names)
        object.__setattr__(self, "names", names)
        for name, kind in _ARRAYS.items():
            object.__setattr__(self, name, frozen(np.asarray(getattr(self, name)), kind))
        self._check_sites(names)
        self._check_cells()

    def _check_sites(self, names: tuple[str, ...]) -> None:
        masts, n = self.masts, len(self.sites)
        if masts.shape != (n,) or len(names) != n or len(set(names)) != n:
            raise InvalidArgument(
                f"{n} sites have {masts.size} masts and {len(set(names))} names; give one each"
            )
        numbers = (*self.sites.ravel(), *masts, self.margin, self.power)
        if not np.isfinite(numbers).all() or self.margin < 0 or self.power <= 0:
            raise InvalidArgument(
                f"places, masts, margin {self.margin} and power {self.power} must be finite, "
                "margin at least 0 and power above 0; check for NaN"
            )
        low, high = _HEIGHTS
        wrong = np.flatnonzero((masts < low) | (masts > high))
        if len(wrong):
            raise InvalidArgument(
                f"the mast of site {names[wrong[0]]} is {masts[wrong[0]]:g} m high; the path loss "
                f"model is for {low:g} to {high:g} m: check that heights are in metres"
            )
        _refuse_one_spot(self.sites, names)

    def _check_cells(self) -> None:
        owners, azimuths = self.site_of_cell, self.azimuths
        if owners.shape != azimuths.shape or owners.ndim != 1:
            raise InvalidArgument(
                f"site_of_cell has shape {owners.shape} and azimuths {azimuths.shape}; give one "
                "of each per cell"
            )
        if (
            not np.array_equal(np.unique(owners), np.arange(len(self.sites)))
            or (np.diff(owners) < 0).any()
        ):
            raise InvalidArgument(
                f"site_of_cell is {owners.tolist()}; number the sites 0 to {len(self.sites) - 1} "
                "in ascending order, each with one cell at least"
            )
        if not np.isfinite(azimuths).all():
            raise InvalidArgument("some azimuths are not finite; give degrees clockwise from north")

    @classmethod
    def random(
        cls, seed: int, *, n_sites: int = 9, spacing: float = 800.0, n_hot_spots: int = 6
    ) -> RadioNetwork:
        """Three sectors per site; sites near the points of a square grid, masts 20 to 45 m high.

        A site is up to a quarter of ``spacing`` from its point each way, and its sectors are
        turned at random. Hot spots hold two fifths of the users. The same seed gives the same
        network.
        """
        if n_sites < 2 or spacing < 4 * _CLOSEST or n_hot_spots < 0:
            raise InvalidArgument(
                f"{n_sites} sites at a spacing of {spacing:g} m with {n_hot_spots} hot spots; give "
                f"at least 2 sites, {4 * _CLOSEST:g} m and no fewer than 0 hot spots"
            )
        rng = generator(seed)
        columns = int(np.ceil(np.sqrt(n_sites)))
        points = np.array([(i % columns, i // columns) for i in range(n_sites)], dtype=float)
        sites = spacing * (points + rng.uniform(-0.25, 0.25, (n_sites, 2)))
        masts = np.round(rng.uniform(20.0, 45.0, n_sites), 1)
        turns = rng.uniform(0.0, 120.0, n_sites)
        azimuths = (turns[:, None] + np.array([0.0, 120.0, 240.0])) % 360.0
        low, high = sites.min(axis=0), sites.max(axis=0)
        parts = rng.uniform(0.5, 1.5, n_hot_spots)
        spots = HotSpots(
            rng.uniform(low, high, (n_hot_spots, 2)),
            rng.uniform(40.0, 120.0, n_hot_spots),
            0.4 * parts / max(parts.sum(), 1e-9),
        )
        owners = np.repeat(np.arange(n_sites), 3)
        return cls(sites, masts, owners, np.round(azimuths, 1).ravel(), hot_spots=spots)

    @classmethod
    def from_file(cls, path: FilePath, hot_spots: FilePath | None = None) -> RadioNetwork:
        """Read a ``.csv`` with a row per cell: site, x, y, height, azimuth.

        Hot spots are in a ``.csv`` of their own: x, y, radius, share.
        """
        from edgewise.integrations.cells.files import read_cells, read_hot_spots

        spots = HotSpots.none() if hot_spots is None else read_hot_spots(hot_spots)
        found = read_cells(path)
        with blaming(path):
            return cls(**found, hot_spots=spots)

    @property
    def n_cells(self) -> int:
        """How many cells."""
        return len(self.azimuths)

    @property
    def places(self) -> Array:
        """(C, 3) metres east, north and above ground of every cell's antenna."""
        owners = self.site_of_cell
        return np.column_stack([self.sites[owners], self.masts[owners]])

    @property
    def cell_names(self) -> tuple[str, ...]:
        """(C,) site and letter: s3b is the second cell of site s3."""
        assert self.names is not None
        owners = self.site_of_cell.tolist()
        nth = [owners[:c].count(owner) for c, owner in enumerate(owners)]
        return tuple(
            f"{self.names[owner]}{chr(97 + k) if k < 26 else f'-{k}'}"
            for owner, k in zip(owners, nth, strict=True)
        )

    @property
    def bounds(self) -> tuple[Array, Array]:
        """South-west and north-east corner (2,) of where users are."""
        return self.sites.min(axis=0) - self.margin, self.sites.max(axis=0) + self.margin

    def users(self, n_users: int, rng: Rng = None) -> Array:
        """(U, 3) places of users, drawn: in a hot spot with its share, else anywhere alike.

        Who would fall outside the bounds stands at their edge.
        """
        random, spots, (low, high) = generator(rng), self.hot_spots, self.bounds
        chances = np.append(spots.shares, max(0.0, 1.0 - spots.shares.sum()))
        spot = random.choice(len(chances), size=n_users, p=chances / chances.sum())
        places = random.uniform(low, high, (n_users, 2))
        around = random.standard_normal((n_users, 2))
        crowded = spot < len(spots.shares)
        inside = spot[crowded]
        places[crowded] = spots.centres[inside] + around[crowded] * spots.radii[inside, None]
        return np.column_stack([np.clip(places, low, high), np.full(n_users, USER_HEIGHT)])

    def __repr__(self) -> str:
        n_spots = len(self.hot_spots.shares)
        spots = f", {n_spots} hot spots" if n_spots else ""
        return f"RadioNetwork({self.n_cells} cells on {len(self.sites)} sites{spots})"


_ARRAYS = {"sites": float, "masts": float, "site_of_cell": np.int64, "azimuths": float}


def _refuse_one_spot(sites: Array, names: tuple[str, ...]) -> None:
    if len(sites) < 2:
        return
    first, second, distance = closest_pair(sites)
    if distance < _CLOSEST:
        raise InvalidArgument(
            f"sites {names[first]} and {names[second]} stand {distance:.1f} m apart, on one spot; "
            f"make them one site with more cells, or move one by {_CLOSEST:g} m at least, and "
            "check that places are in metres"
        )
