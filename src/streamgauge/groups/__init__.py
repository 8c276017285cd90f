"""Groups of cells: built from a plain description, so that a group can live in this process, another one or a cluster.

A group is given what a batch brings (an `Order`) and gives back plain columns (`Brought`). What one group does never
depends on another, so it does not matter where groups live, nor which cells go together.
"""

from streamgauge.groups.crews import Crew, Maker, Source
from streamgauge.groups.group import Group
from streamgauge.groups.hosts import Backend, Host, Workers, one_by_one
from streamgauge.groups.orders import Brought, Clock, Order, Recipe, Saved

__all__ = [
    "Backend",
    "Brought",
    "Clock",
    "Crew",
    "Group",
    "Host",
    "Maker",
    "Order",
    "Recipe",
    "Saved",
    "Source",
    "Workers",
    "one_by_one",
]
