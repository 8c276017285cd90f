"""What learners cost, as the cells of a table."""

from streamgauge.records import Resources

__all__ = ["cost_cells", "cost_columns"]

COLUMNS = ("CPU s", "predict %", "rows/s", "model kB", "RAM-hours", "p99 us")


def cost_columns(cost: Resources) -> tuple[str, ...]:
    """Name what is told of the cost of each learner.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> cost_columns(evaluate(SEA(n_rows=100), NoChange(), resources=True).resources)[0]
    'CPU s'
    """
    return (*COLUMNS, "late") if cost.n_late.any() else COLUMNS


def cost_cells(cost: Resources, place: int) -> tuple[str, ...]:
    """Tell what the learner at a place cost: means over folds, the largest model of any, the slowest predicting.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> len(cost_cells(evaluate(SEA(n_rows=100), NoChange(), resources=True).resources, 0))
    6
    """
    p99 = cost.percentiles.index(99.0)
    return (
        f"{cost.cpu_seconds[-1, place].mean():.3g}",
        f"{100 * cost.predict_share[-1, place].mean():.0f}",
        f"{cost.rows_per_second[place].mean():,.0f}",
        f"{cost.n_bytes[:, place].max() / 1000:,.1f}",
        f"{cost.ram_hours[-1, place].mean():.2g}",
        f"{1e6 * cost.latency[place, :, 0, p99].max():,.3g}",
        *((f"{cost.n_late[place].sum():,}",) if cost.n_late.any() else ()),
    )
