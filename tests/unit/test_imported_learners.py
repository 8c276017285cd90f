"""Learners of a Python module on the command line: ``--learner module:name``."""

import json

import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.names import make_learners
from tests.support.commands import invoke


@pytest.fixture
def models(tmp_path, monkeypatch):
    text = (
        "from sklearn.naive_bayes import GaussianNB\n"
        "from sklearn.linear_model import SGDClassifier\n"
        "bayes = GaussianNB()\n"
        "def linear():\n    return SGDClassifier(loss='log_loss')\n"
        "nothing = 42\n"
    )
    (tmp_path / "models_of_the_test.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "models_of_the_test"


def test_models_of_a_module_are_evaluated_under_their_names(models):
    parts = ["evaluate", "--stream", "SEA", "--rows", "300", "--learner", f"{models}:bayes"]
    output, *_ = invoke(*parts, "--learner", f"{models}:linear", "--learner", "NoChange", "--json")
    final = json.loads(output)["final"]
    assert [one["learner"] for one in final] == ["bayes", "linear", "NoChange"]


def test_a_function_is_called_and_an_object_is_taken_as_it_is(models):
    made = make_learners([f"{models}:bayes", f"{models}:linear"])
    assert {name: type(learner).__name__ for name, learner in made.items()} == {
        "bayes": "GaussianNB",
        "linear": "SGDClassifier",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models_of_the_test:bays", "did you mean bayes"),
        ("no_such_module:bayes", r"cannot import no_such_module: .*; there is no no_such_module\.py in /"),
        ("models_of_the_tests:bayes", r"cannot import .*; did you mean models_of_the_test\?"),
        ("models_of_the_test:forest", "there is no object of models_of_the_test called 'forest'; there are "),
        ("LGBMClassifier", "module:name"),
    ],
)
def test_a_wrong_name_is_an_error_with_a_hint(models, text, said):
    assert models
    with pytest.raises(StreamgaugeError, match=said):
        make_learners([text])


def test_an_object_that_is_no_learner_is_refused_before_the_first_row(models):
    with pytest.raises(StreamgaugeError, match="this is not a learner: 42"):
        invoke("evaluate", "--stream", "SEA", "--rows", "300", "--learner", f"{models}:nothing")
