"""Objects as text."""

from streamgauge._format.text import to_text


def test_an_object_whose_repr_fails_is_named_by_its_class():
    class Faulty:
        def __init__(self):
            self.width = 3

        def __repr__(self):
            raise TypeError

    assert to_text(Faulty()) == "Faulty(width=3)"
