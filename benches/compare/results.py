"""Results of comparisons: tables of what was measured, for the page and for JSON."""

from dataclasses import dataclass, field


@dataclass
class Table:
    """Rows of one question each. A row has `name`, `cells` by program, and perhaps `note`.

    A cell is what `measure.summary` gives, or `{"cannot": why}`. `unit` is the key that is compared, `scale` what its values
    are multiplied with for the page, `higher` whether higher values are better. `raw` has the rows of all questions if `rows` are statistics of them. `rest` lists further columns of a program:
    pairs of a key and a format.
    """

    title: str
    rows: list = field(default_factory=list)
    unit: str = "cpu"
    scale: float = 1000.0
    heading: str = "processor time in ms"
    text: str = ""
    higher: bool = False
    raw: list = field(default_factory=list)
    listed: bool = False  # programs as rows, with the columns of `rest`
    rest: list = field(default_factory=list)


@dataclass
class Group:
    """One section of the page."""

    title: str
    text: str
    tables: list = field(default_factory=list)
    missing: dict = field(default_factory=dict)  # a program, and why it was not run
    notes: list = field(default_factory=list)
    versions: dict = field(default_factory=dict)
