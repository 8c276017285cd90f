//! Bindings of the text parsers, chunk by chunk.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::text::{
    self, AttributeKind, Column, Delimited, Dialect, Expected, Layout, Libsvm, Mark, Names, Role, SurveyedColumn,
    TimeFormat, TimeKind,
};

use crate::convert::{run_kernel, to_python, to_table};

/// A position in a file: rows, bytes and lines before it.
pub type Position = (u64, u64, u64);
/// A column: its name, its nominal values, their codes (empty: in order), its role, whether values may be missing, how
/// its times are written (empty: recognised).
type ColumnSpec = (String, Option<Vec<String>>, Vec<u32>, String, bool, Option<String>);
/// A column to survey: its name, its contents, how its times are written, the largest number of names.
type SurveySpec = (String, String, Option<String>, usize);
/// Rows: values, classes, weights, times.
type RowArrays = (Py<PyArray2<f64>>, Py<PyArray1<i32>>, Option<Py<PyArray1<f64>>>, Option<Py<PyArray1<f64>>>);
/// The contents of a column: names, their counts, numbers, missing values, the line of the first name beyond the
/// maximum, and, if it holds times: their number, whether they decrease, whether some values are not times.
type ColumnFields = (Vec<String>, Vec<u64>, u64, u64, Option<u64>, Option<(u64, bool, bool)>);
/// Times: seconds, how they are written, and the position and reason of the first fault.
type TimeFields = (Py<PyArray1<f64>>, Option<&'static str>, Option<(usize, String)>);

pub fn to_mark((row, end, line): Position) -> Mark {
    Mark { row, end, line }
}

pub fn build_dialect(delimiter: u8, arff: bool, missing: Vec<String>) -> PyResult<Dialect> {
    if arff { Dialect::arff(delimiter, missing) } else { Dialect::new(delimiter, missing) }.map_err(to_python)
}

pub fn build_names(values: Vec<String>) -> PyResult<Names> {
    let n = values.len();
    let names: Names = values.into_iter().collect();
    if names.len() < n { Err(PyValueError::new_err("two values have the same name")) } else { Ok(names) }
}

fn parse_column((name, values, codes, role, missing, times): ColumnSpec) -> PyResult<Column> {
    let role = match role.as_str() {
        "attribute" => Role::Attribute,
        "class" => Role::Class,
        "weight" => Role::Weight,
        "time" => Role::Time,
        "dropped" => Role::Dropped,
        _ => return Err(PyValueError::new_err(format!("{role:?} is not a role of a column"))),
    };
    let names = match values {
        Some(values) if codes.len() == values.len() && !codes.is_empty() => {
            Some(Names::with_codes(values.into_iter().zip(codes)))
        }
        values => values.map(build_names).transpose()?,
    };
    let times = times.map(|text| build_format(Some(text.as_str()))).transpose()?;
    Ok(Column { name, names, role, missing, times })
}

/// Returns the format of times; an empty text, or none, means that they are recognised.
fn build_format(text: Option<&str>) -> PyResult<TimeFormat> {
    TimeFormat::new(text.filter(|text| !text.is_empty())).map_err(to_python)
}

/// Returns the rest of a chunk.
fn slice_from(chunk: &[u8], position: usize) -> PyResult<&[u8]> {
    chunk
        .get(position..)
        .ok_or_else(|| PyValueError::new_err(format!("position {position} is beyond the end of the chunk")))
}

/// A parser of the header of an ARFF file, chunk by chunk.
#[pyclass(module = "streamgauge._native")]
#[derive(Default)]
struct ArffHeader {
    kernel: text::Header,
}

#[pymethods]
impl ArffHeader {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Reads a chunk; returns the number of bytes used.
    fn update(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<usize> {
        let kernel = &mut self.kernel;
        run_kernel(py, || Ok(kernel.update(chunk)?))
    }

    /// Reads the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// Returns whether `@data` has been read.
    #[getter]
    fn is_complete(&self) -> bool {
        self.kernel.is_complete()
    }

    /// Returns the name of the relation.
    #[getter]
    fn relation(&self) -> &str {
        self.kernel.relation()
    }

    /// Returns the name, kind and nominal values of each attribute.
    #[getter]
    fn attributes(&self) -> Vec<(String, &'static str, Option<Vec<String>>)> {
        let describe = |(name, kind): &(String, AttributeKind)| match kind {
            AttributeKind::Numeric => (name.clone(), "numeric", None),
            AttributeKind::Nominal(values) => (name.clone(), "nominal", Some(values.clone())),
            AttributeKind::Text => (name.clone(), "text", None),
            AttributeKind::Date(format) => (name.clone(), "date", format.clone().map(|format| vec![format])),
        };
        self.kernel.attributes().iter().map(describe).collect()
    }

    /// Returns the start of the rows.
    #[getter]
    fn mark(&self) -> Position {
        let Mark { row, end, line } = self.kernel.mark();
        (row, end, line)
    }
}

/// A reader of the rows of a file, chunk by chunk.
#[pyclass(module = "streamgauge._native")]
struct RowReader {
    kernel: text::RowReader,
}

#[pymethods]
impl RowReader {
    /// Reads delimited rows.
    #[staticmethod]
    fn delimited(
        columns: Vec<ColumnSpec>,
        delimiter: u8,
        arff: bool,
        missing: Vec<String>,
        position: Position,
        skip_to: u64,
    ) -> PyResult<Self> {
        let columns = columns.into_iter().map(parse_column).collect::<PyResult<_>>()?;
        let layout = Layout::new(build_dialect(delimiter, arff, missing)?, columns).map_err(to_python)?;
        Ok(Self { kernel: text::RowReader::new(Box::new(Delimited::new(layout)), to_mark(position), skip_to) })
    }

    /// Reads libsvm rows.
    #[staticmethod]
    fn libsvm(
        classes: Vec<String>,
        base: usize,
        n_attributes: usize,
        position: Position,
        skip_to: u64,
    ) -> PyResult<Self> {
        let parser = Libsvm::new(build_names(classes)?, base, n_attributes);
        Ok(Self { kernel: text::RowReader::new(Box::new(parser), to_mark(position), skip_to) })
    }

    /// Reads the chunk from `position` on until `limit` rows are buffered; returns the number of bytes used.
    fn update(&mut self, py: Python<'_>, chunk: &[u8], position: usize, limit: usize) -> PyResult<usize> {
        let part = slice_from(chunk, position)?;
        let kernel = &mut self.kernel;
        run_kernel(py, || Ok(kernel.update(part, limit)?))
    }

    /// Reads the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// Returns the number of buffered rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.kernel.n_rows()
    }

    /// Returns the position of the next row in the file.
    #[getter]
    fn row(&self) -> u64 {
        self.kernel.row()
    }

    /// Takes the buffered rows.
    fn take(&mut self, py: Python<'_>) -> PyResult<RowArrays> {
        let rows = self.kernel.take();
        let shape = (rows.y.len(), self.kernel.n_attributes());
        let x = to_table(py, "x", rows.x, shape)?;
        let weight = (!rows.weight.is_empty()).then(|| rows.weight.into_pyarray(py).unbind());
        let time = (!rows.time.is_empty()).then(|| rows.time.into_pyarray(py).unbind());
        Ok((x, rows.y.into_pyarray(py).unbind(), weight, time))
    }

    /// Takes the marks since the last call.
    fn take_marks(&mut self) -> Vec<Position> {
        self.kernel.take_marks().into_iter().map(|Mark { row, end, line }| (row, end, line)).collect()
    }
}

fn parse_surveyed((name, expected, times, max_names): SurveySpec) -> PyResult<SurveyedColumn> {
    let expected = match expected.as_str() {
        "anything" => Expected::Anything,
        "no times" => Expected::NoTimes,
        "names" => Expected::Names,
        "numbers" => Expected::Numbers,
        "times" => Expected::Times,
        "nothing" => Expected::Nothing,
        _ => return Err(PyValueError::new_err(format!("{expected:?} is not the contents of a column"))),
    };
    Ok(SurveyedColumn { name, expected, times: build_format(times.as_deref())?, max_names })
}

/// A survey of the columns of a delimited file, chunk by chunk.
#[pyclass(module = "streamgauge._native")]
struct Survey {
    kernel: text::Survey,
}

#[pymethods]
impl Survey {
    #[new]
    fn new(
        columns: Vec<SurveySpec>,
        delimiter: u8,
        arff: bool,
        missing: Vec<String>,
        position: Position,
    ) -> PyResult<Self> {
        let columns = columns.into_iter().map(parse_surveyed).collect::<PyResult<_>>()?;
        let dialect = build_dialect(delimiter, arff, missing)?;
        Ok(Self { kernel: text::Survey::new(dialect, columns, to_mark(position)) })
    }

    /// Surveys a chunk.
    fn update(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || Ok(kernel.update(chunk)?))
    }

    /// Surveys the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// Returns the number of rows.
    #[getter]
    fn n_rows(&self) -> u64 {
        self.kernel.n_rows()
    }

    /// Returns the columns that started with a time but hold other values, too.
    #[getter]
    fn broken(&self) -> Vec<usize> {
        let is_broken = |seen: &text::ColumnSummary| seen.times.as_ref().is_some_and(|times| times.is_broken);
        let summaries = self.kernel.summaries().iter().enumerate();
        summaries.filter(|(_, seen)| is_broken(seen)).map(|(column, _)| column).collect()
    }

    /// Returns the contents of each column.
    #[getter]
    fn seen(&self) -> Vec<ColumnFields> {
        let to_tuple = |seen: &text::ColumnSummary| {
            let times = seen.times.as_ref().map(|times| (times.n, times.decreases, times.is_broken));
            (seen.names.as_slice().to_vec(), seen.counts.clone(), seen.n_numbers, seen.n_missing, seen.overflow, times)
        };
        self.kernel.summaries().iter().map(to_tuple).collect()
    }
}

/// A survey of the classes and indexes of a libsvm file, chunk by chunk.
#[pyclass(module = "streamgauge._native")]
struct LibsvmSurvey {
    kernel: text::LibsvmSurvey,
}

#[pymethods]
impl LibsvmSurvey {
    #[new]
    fn new(max_classes: usize) -> Self {
        Self { kernel: text::LibsvmSurvey::new(max_classes) }
    }

    /// Surveys a chunk.
    fn update(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || Ok(kernel.update(chunk)?))
    }

    /// Surveys the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// Returns the classes, the smallest and the largest index, and the number of rows.
    #[getter]
    fn seen(&self) -> (Vec<String>, usize, usize, u64) {
        let kernel = &self.kernel;
        (kernel.classes.as_slice().to_vec(), kernel.min_index, kernel.max_index, kernel.n_rows)
    }
}

/// Splits a line into fields, each with whether it was in quotes.
#[pyfunction]
fn split_line(line: &[u8], delimiter: u8) -> PyResult<Vec<(String, bool)>> {
    let error = |(column, reason): (usize, String)| PyValueError::new_err(format!("column {}: {reason}", column + 1));
    text::split(line, &build_dialect(delimiter, false, Vec::new())?).map_err(error)
}

/// Returns whether a text is a finite number.
#[pyfunction]
fn is_number(text: &str) -> bool {
    text::parse_number(text).is_ok()
}

/// Parses texts as times; returns seconds since 1970-01-01 UTC, how the times are written ("number", "local" or
/// "zoned"), and the position and reason of the first fault, from which on the times are NaN.
#[pyfunction]
fn parse_times(py: Python<'_>, texts: Vec<Option<String>>, time_format: Option<&str>) -> PyResult<TimeFields> {
    let format = TimeFormat::new(time_format).map_err(to_python)?;
    let (times, kind, fault) = py.detach(|| text::parse_times(texts.iter().map(Option::as_deref), &format));
    Ok((times.into_pyarray(py).unbind(), kind.map(TimeKind::name), fault))
}

/// Returns whether a text is a time in ISO 8601.
#[pyfunction]
fn is_time(text: &str) -> bool {
    text::is_time(text)
}

/// Returns a time, in seconds since 1970-01-01 UTC, as text in ISO 8601.
#[pyfunction]
fn format_time(seconds: f64) -> String {
    text::format_time(seconds)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArffHeader>()?;
    module.add_class::<RowReader>()?;
    module.add_class::<Survey>()?;
    module.add_class::<LibsvmSurvey>()?;
    module.add_function(wrap_pyfunction!(split_line, module)?)?;
    module.add_function(wrap_pyfunction!(is_number, module)?)?;
    module.add_function(wrap_pyfunction!(parse_times, module)?)?;
    module.add_function(wrap_pyfunction!(is_time, module)?)?;
    module.add_function(wrap_pyfunction!(format_time, module)?)
}
