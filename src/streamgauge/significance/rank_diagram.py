"""Critical-difference diagrams as text: learners on a line of mean ranks, bars over those that cannot be told apart."""

from streamgauge.significance.ranking import Ranking

__all__ = ["diagram_text"]


def diagram_text(ranking: Ranking, *, width: int = 60) -> str:
    """Give the diagram as text, `width` characters wide without the names.

    The first lines show where the mean ranks lie; each bar below joins learners that cannot be told apart, with a dot
    for each of them: what a bar merely passes does not belong to it.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> values = [[0.9, 0.68 + 0.01 * i, 0.71] for i in range(8)]
    >>> print(diagram_text(rank_table(values, ["tree", "bayes", "majority"]), width=21))
    1         2         3
    ├───────────────────┤
    ●                     1.00 tree
                  ●       2.44 bayes
                    ●     2.56 majority
                  ●─●
    """
    k = len(ranking.learners)
    place = {
        name: round((mean_rank - 1) / (k - 1) * (width - 1))
        for name, mean_rank in zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True)
    }
    numbers = [" "] * width
    for whole in range(1, k + 1):
        label, column = str(whole), round((whole - 1) / (k - 1) * (width - 1))
        start = min(column, width - len(label))
        numbers[start : start + len(label)] = label
    lines = ["".join(numbers).rstrip(), "├" + "─" * (width - 2) + "┤"]
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    lines += [f"{' ' * place[name] + '●':<{width}} {means[name]:.2f} {name}" for name in ranking.order]
    for group in ranking.groups:
        columns = [place[name] for name in group]
        bar = "".join("●" if i in columns else "─" for i in range(min(columns), max(columns) + 1))
        lines.append(" " * min(columns) + bar)
    return "\n".join(lines)
