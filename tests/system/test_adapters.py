"""Learners of others in processes: failures on the command line, and what is imported."""

import json
import subprocess
import sys


def test_the_command_line_reports_failures_and_continues_unless_all_fail(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b,class\n" + "1,?,x\n2,3,y\n" * 30)
    program = (
        "import sys; from streamgauge.cli.main import main; from streamgauge import learners; import numpy as np\n"
        "from dataclasses import dataclass\n"
        "from tests.unit.learners.adapters.test_adapters import Majority\n"
        "@dataclass(frozen=True)\n"
        "class Bad(learners.PythonLearner):\n    learner: object = Majority(20)\n"
        "learners.Bad = Bad; learners.__all__.append('Bad'); main()"
    )
    asked = ["evaluate", "--stream", str(rows), "--learner", "Bad"]
    for more, status in (([], 2), (["--learner", "NaiveBayes"], 1)):
        done = subprocess.run(
            [sys.executable, "-c", program, *asked, *more], capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert "failed in fold 0 at row 20: ArithmeticError: too hot" in " ".join((done.stdout + done.stderr).split())
    done = subprocess.run(
        [sys.executable, "-c", program, *asked, "--learner", "NaiveBayes", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["failures"][0]["row"] == 20


def test_importing_streamgauge_imports_no_library_of_an_adapter():
    program = (
        "import sys, streamgauge, streamgauge.learners\n"
        "found = {'sklearn', 'river', 'jpype', 'vowpalwabbit', 'strlearn', 'torch'} & set(sys.modules)\n"
        "sys.exit(', '.join(found) or 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
