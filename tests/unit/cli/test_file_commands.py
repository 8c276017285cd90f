"""The commands on files: describe, convert, shuffle, sample and the list of datasets."""

import json

import pytest
from click.testing import CliRunner

from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import DATASETS, File


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "price,day,move\n" + "".join(f"{i / 8},{('mo', 'tu')[i % 2]},{int(i % 3 == 0)}\n" for i in range(1500))
    )
    return path


def run(*arguments):
    done = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_describe_shows_tables_and_gives_json(file):
    shown = run("describe", file).output
    assert "1,500 rows, 2 attributes, 2 classes" in shown
    assert "accuracy of the no-change baseline: 0.3333" in shown
    found = json.loads(run("describe", file, "--json", "--spans", 5).output)
    assert found["classes"] == {"0": 1000, "1": 500}
    assert found["span_ends"] == [300, 600, 900, 1200, 1500]
    assert found["attributes"][1]["kind"] == "nominal"
    assert found["fingerprint"] == File(file).fingerprint


def test_convert_goes_by_the_name_of_the_output(file, tmp_path):
    assert json.loads(run("convert", file, tmp_path / "a.arff.gz", "--json").output)["n_rows"] == 1500
    assert File(tmp_path / "a.arff.gz").schema.attributes[1].values == ("mo", "tu")
    assert "1,500 rows" in run("convert", file, tmp_path / "b.parquet", "--target", "day", "--drop", "move").output
    assert File(tmp_path / "b.parquet").schema.classes == ("mo", "tu")


def test_convert_states_where_the_times_are(tmp_path):
    path, output = tmp_path / "sent.csv", tmp_path / "written.csv"
    path.write_text("sent,price,move\n2024-01-01,1,up\n2024-01-02,2,down\n")
    shown = run("convert", path, output).stderr
    assert "column 'sent' holds the times of the rows" in shown
    assert "the first column, 'time', holds the times of the rows in seconds: read it with --time time" in shown
    assert run("convert", path, output, "--quiet").stderr == ""
    assert File(output, time="time").schema == File(path).schema


def test_shuffle_obeys_its_seed(file, tmp_path):
    run("shuffle", file, tmp_path / "a.csv", "--seed", 3)
    assert json.loads(run("shuffle", file, tmp_path / "b.csv", "--seed", 3, "--json").output)["seed"] == 3
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes() != file.read_bytes()


def test_sample_draws_and_a_recipe_draws_again(file, tmp_path):
    wanted = ["--training-positives", 50, "--training-balance", 0.5, "--test-balance", 0.4, "--labelled", 0.1]
    shown = run("sample", file, *wanted, "--out", tmp_path / "s").output
    assert "labelled test rows: 126 of 1,260" in shown
    again = json.loads(
        run("sample", "--recipe", tmp_path / "s" / "recipe.json", "--out", tmp_path / "t", "--json").output
    )
    assert [(group["training"], group["test"]) for group in again["groups"]] == [(50, 360), (100, 900)]
    assert (tmp_path / "s" / "test.csv").read_bytes() == (tmp_path / "t" / "test.csv").read_bytes()


def test_sample_knows_shares_features_formats_and_index(file, tmp_path):
    shares = ["--training-rows", 100, "--training-share", "0=1", "--training-share", "1=3", "--test-share", "0=1"]
    options = ["--features", "day", "--index", tmp_path / "index", "--out", tmp_path / "s", "--json"]
    found = json.loads(run("sample", file, *shares, *options).output)
    assert [(group["training"], group["test"]) for group in found["groups"]] == [(25, 975), (75, 0)]
    assert File(found["training"]).schema.n_attributes == 1
    assert len(list((tmp_path / "index").iterdir())) == 3
    run("sample", file, "--positive", "0", "--format", "parquet", "--out", tmp_path / "p")
    assert File(tmp_path / "p" / "test.parquet").n_rows == 1500


def test_datasets_are_listed_and_opened_by_name(monkeypatch, file):
    listed = json.loads(run("list", "datasets", "--json").output)
    assert [row["name"] for row in listed] == list(DATASETS)
    assert "Forest cover" in run("list", "datasets").output
    file.rename(file.with_name("electricity.csv"))
    monkeypatch.setenv("STREAMGAUGE_DATA", str(file.parent))
    assert "1,500 rows" in run("describe", "electricity").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sample", "--out", "x"], "give INPUT, the file to sample"),
        (["sample", "{file}", "--out", "x", "--training-rows", "5", "--positive", "1"], "choose one"),
        (["sample", "{file}", "--out", "x", "--test-share", "0"], "write CLASS=SHARE"),
        (["sample", "{file}", "--out", "x", "--labelled", "2"], "labelled = 2.0"),
        (["describe", "nothing.csv"], "there is no file nothing.csv"),
        (["describe", "{file}", "--target", "moves"], "did you mean move?"),
        (["convert", "{file}", "x.doc"], "ends in .arff"),
    ],
)
def test_mistakes_are_reported_in_one_line(file, arguments, message):
    with pytest.raises(StreamgaugeError) as error:
        run(*(argument.format(file=file) for argument in arguments))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["describe", "convert", "shuffle", "sample", "list", "evaluate", "compare"])
def test_help_keeps_the_lines_of_its_examples(name):
    shown = run(name, "--help").output
    assert "\\b" not in shown
    lines = shown.splitlines()
    assert any(line.strip() in {"Example:", "Examples:"} for line in lines)
    assert any(line.startswith(f"    streamgauge {name} ") for line in lines)


def test_a_column_that_hardly_repeats_a_value_is_named(tmp_path):
    lines = [f"key{i % 80},{'ab'[i % 2]},{i % 3},{'yes' if i % 3 else 'no'}" for i in range(100)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,letter,number,label", *lines]))
    shown = run("describe", tmp_path / "rows.csv").output
    assert "most values of column 'id' are unique" in shown
    assert "letter: almost" not in shown


def test_describe_names_the_times_what_is_left_out_and_a_rare_class(tmp_path):
    lines = [f"2024-01-{1 + i // 10:02d},key{i},{i},{'yes' if i % 10 else 'no'}" for i in range(100)]
    (tmp_path / "rows.csv").write_text("\n".join(["day,id,number,label", *lines]))
    shown = run("describe", tmp_path / "rows.csv").output
    assert "times of the rows: 2024-01-01T00:00:00Z to 2024-01-10T00:00:00Z" in shown
    assert "imbalanced: class no has 10.0% of the rows" in shown
    assert "Note: column 'id' is left out: it is text" in shown
    assert "Note: column 'day' holds the times of the rows" in shown


def test_describe_describes_a_generator_and_refuses_options_of_files_for_it():
    assert run("describe", "SEA", "--rows", 50).output.startswith("50 rows, 3 attributes, 2 classes")
    assert "10,000 rows, 3 attributes" in run("describe", "SEA").output
    with pytest.raises(StreamgaugeError, match=r"SEA is a generator, not a file.*remove target \(--target\)"):
        run("describe", "SEA", "--target", "x")


@pytest.mark.parametrize(
    "command",
    [
        ("describe",),
        ("evaluate", "--learner", "NaiveBayes", "--no-resources", "--stream"),
        ("compare", "--learner", "NaiveBayes", "--learner", "NoChange", "--no-resources", "--stream"),
        ("detect", "--column", "b", "--stream"),
    ],
    ids=lambda words: words[0],
)
def test_all_commands_read_a_file_with_the_same_options(tmp_path, command):
    path = tmp_path / "rows.csv"
    rows = "".join(f"{'xy'[i % 2]};0{1 + i % 2}/03/2024;{i};{i % 3};k{i % 4};NA\n" for i in range(20))
    path.write_text("c;t;b;n;k;m\n" + "".join(sorted(rows.splitlines(keepends=True), key=lambda row: row[2:12])))
    options = ["--target", "c", "--time", "t", "--time-format", "%d/%m/%Y", "--nominal", "n", "--drop", "k"]
    options += ["--missing", "NA", "--delimiter", ";", "--header", "--numeric", "b"]
    assert run(*command, path, *options).exit_code == 0
    with pytest.raises(StreamgaugeError, match=r"column for target called 'nowhere'"):
        run(*command, path, *options, "--target", "nowhere")
