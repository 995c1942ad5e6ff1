"""``python -m edgewise``: the command line."""

from edgewise.cli import main

main()
