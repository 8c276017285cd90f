//! Files of text, chunk by chunk.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::KernelError;
use streamgauge_kernels::text::{
    self, Column, Declared, Delimited, Dialect, Expected, Layout, Libsvm, Mark, Names, Role,
};

use crate::convert::{to_python, work};

/// Where in a file reading goes on: rows, bytes and lines before it.
pub type Place = (u64, u64, u64);
/// A column: its name, its nominal values, its role, whether values may be missing.
type ColumnSpec = (String, Option<Vec<String>>, String, bool);
/// Rows: values, classes, weights.
type Taken = (Py<PyArray2<f64>>, Py<PyArray1<i32>>, Option<Py<PyArray1<f64>>>);
/// What was found in a column: names, their counts, numbers, missing values, the line of the first name too many.
type Found = (Vec<String>, Vec<u64>, u64, u64, Option<u64>);

pub fn mark((row, end, line): Place) -> Mark {
    Mark { row, end, line }
}

pub fn dialect(delimiter: u8, arff: bool, missing: Vec<String>) -> PyResult<Dialect> {
    if arff { Dialect::arff(delimiter, missing) } else { Dialect::new(delimiter, missing) }.map_err(to_python)
}

pub fn names(values: Vec<String>) -> PyResult<Names> {
    let n = values.len();
    let names: Names = values.into_iter().collect();
    if names.len() < n { Err(PyValueError::new_err("two values have the same name")) } else { Ok(names) }
}

fn column((name, values, role, missing): ColumnSpec) -> PyResult<Column> {
    let role = match role.as_str() {
        "attribute" => Role::Attribute,
        "class" => Role::Class,
        "weight" => Role::Weight,
        "dropped" => Role::Dropped,
        _ => return Err(PyValueError::new_err(format!("{role:?} is not a role of a column"))),
    };
    Ok(Column { name, names: values.map(names).transpose()?, role, missing })
}

/// The rest of a chunk.
fn rest(chunk: &[u8], at: usize) -> PyResult<&[u8]> {
    chunk.get(at..).ok_or_else(|| PyValueError::new_err(format!("the chunk has no position {at}")))
}

/// The header of an ARFF file, chunk by chunk.
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

    /// Read on; how many bytes were used.
    fn update(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<usize> {
        let kernel = &mut self.kernel;
        work(py, || Ok(kernel.update(chunk)?))
    }

    /// Read the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// Whether `@data` has been read.
    #[getter]
    fn is_complete(&self) -> bool {
        self.kernel.is_complete()
    }

    /// The name of the relation.
    #[getter]
    fn relation(&self) -> &str {
        self.kernel.relation()
    }

    /// Per attribute its name, its kind and its nominal values.
    #[getter]
    fn attributes(&self) -> Vec<(String, &'static str, Option<Vec<String>>)> {
        let declared = |(name, kind): &(String, Declared)| match kind {
            Declared::Numeric => (name.clone(), "numeric", None),
            Declared::Nominal(values) => (name.clone(), "nominal", Some(values.clone())),
            Declared::Text => (name.clone(), "text", None),
        };
        self.kernel.attributes().iter().map(declared).collect()
    }

    /// Where the rows start.
    #[getter]
    fn mark(&self) -> Place {
        let Mark { row, end, line } = self.kernel.mark();
        (row, end, line)
    }
}

/// The rows of a file, chunk by chunk.
#[pyclass(module = "streamgauge._native")]
struct RowReader {
    kernel: text::RowReader,
}

#[pymethods]
impl RowReader {
    /// Read delimited rows.
    #[staticmethod]
    fn delimited(
        columns: Vec<ColumnSpec>,
        delimiter: u8,
        arff: bool,
        missing: Vec<String>,
        place: Place,
        skip_to: u64,
    ) -> PyResult<Self> {
        let columns = columns.into_iter().map(column).collect::<PyResult<_>>()?;
        let layout = Layout::new(dialect(delimiter, arff, missing)?, columns).map_err(to_python)?;
        Ok(Self { kernel: text::RowReader::new(Box::new(Delimited::new(layout)), mark(place), skip_to) })
    }

    /// Read libsvm rows.
    #[staticmethod]
    fn libsvm(classes: Vec<String>, base: usize, n_attributes: usize, place: Place, skip_to: u64) -> PyResult<Self> {
        let parser = Libsvm::new(names(classes)?, base, n_attributes);
        Ok(Self { kernel: text::RowReader::new(Box::new(parser), mark(place), skip_to) })
    }

    /// Read the chunk from `at` on until `limit` rows wait; how many bytes were used.
    fn update(&mut self, py: Python<'_>, chunk: &[u8], at: usize, limit: usize) -> PyResult<usize> {
        let part = rest(chunk, at)?;
        let kernel = &mut self.kernel;
        work(py, || Ok(kernel.update(part, limit)?))
    }

    /// Read the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// How many rows wait.
    #[getter]
    fn n_rows(&self) -> usize {
        self.kernel.n_rows()
    }

    /// The position of the next row in the file.
    #[getter]
    fn row(&self) -> u64 {
        self.kernel.row()
    }

    /// Take the rows that wait.
    fn take(&mut self, py: Python<'_>) -> PyResult<Taken> {
        let rows = self.kernel.take();
        let shape = (rows.y.len(), self.kernel.n_attributes());
        let fault = |_| to_python(KernelError::Shape { what: "x", found: 0, expected: shape.0 * shape.1 });
        let x = Array2::from_shape_vec(shape, rows.x).map_err(fault)?.into_pyarray(py).unbind();
        let weight = (!rows.weight.is_empty()).then(|| rows.weight.into_pyarray(py).unbind());
        Ok((x, rows.y.into_pyarray(py).unbind(), weight))
    }

    /// Take the places passed since the last call.
    fn take_marks(&mut self) -> Vec<Place> {
        self.kernel.take_marks().into_iter().map(|Mark { row, end, line }| (row, end, line)).collect()
    }
}

/// What the columns of a delimited file hold, chunk by chunk.
#[pyclass(module = "streamgauge._native")]
struct Survey {
    kernel: text::Survey,
}

#[pymethods]
impl Survey {
    #[new]
    fn new(
        columns: Vec<(String, String)>,
        delimiter: u8,
        missing: Vec<String>,
        most_names: usize,
        place: Place,
    ) -> PyResult<Self> {
        let expected = |(name, expected): (String, String)| match expected.as_str() {
            "anything" => Ok((name, Expected::Anything)),
            "names" => Ok((name, Expected::Names)),
            "numbers" => Ok((name, Expected::Numbers)),
            "nothing" => Ok((name, Expected::Nothing)),
            _ => Err(PyValueError::new_err(format!("{expected:?} is not what a column can hold"))),
        };
        let columns = columns.into_iter().map(expected).collect::<PyResult<_>>()?;
        let dialect = dialect(delimiter, false, missing)?;
        Ok(Self { kernel: text::Survey::new(dialect, columns, most_names, mark(place)) })
    }

    /// Survey a chunk.
    fn update(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        work(py, || Ok(kernel.update(chunk)?))
    }

    /// Survey the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// How many rows there are.
    #[getter]
    fn n_rows(&self) -> u64 {
        self.kernel.n_rows()
    }

    /// What was found in each column.
    #[getter]
    fn seen(&self) -> Vec<Found> {
        let found = |seen: &text::Seen| {
            (seen.names.as_slice().to_vec(), seen.counts.clone(), seen.n_numbers, seen.n_missing, seen.overflow)
        };
        self.kernel.seen().iter().map(found).collect()
    }
}

/// The classes and indexes of a libsvm file, chunk by chunk.
#[pyclass(module = "streamgauge._native")]
struct LibsvmSurvey {
    kernel: text::LibsvmSurvey,
}

#[pymethods]
impl LibsvmSurvey {
    #[new]
    fn new(most_classes: usize) -> Self {
        Self { kernel: text::LibsvmSurvey::new(most_classes) }
    }

    /// Survey a chunk.
    fn update(&mut self, py: Python<'_>, chunk: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        work(py, || Ok(kernel.update(chunk)?))
    }

    /// Survey the last line of the file.
    fn finish(&mut self) -> PyResult<()> {
        self.kernel.finish().map_err(|error| to_python(error.into()))
    }

    /// The classes, the least and the greatest index, and how many rows there are.
    #[getter]
    fn seen(&self) -> (Vec<String>, usize, usize, u64) {
        let kernel = &self.kernel;
        (kernel.classes.as_slice().to_vec(), kernel.least, kernel.greatest, kernel.n_rows)
    }
}

/// The fields of a line, each with whether it was in quotes.
#[pyfunction]
fn split_line(line: &[u8], delimiter: u8) -> PyResult<Vec<(String, bool)>> {
    let fault = |(column, why): (usize, String)| PyValueError::new_err(format!("column {}: {why}", column + 1));
    text::split(line, &dialect(delimiter, false, Vec::new())?).map_err(fault)
}

/// Whether a text is a finite number.
#[pyfunction]
fn is_number(text: &str) -> bool {
    text::number(text).is_ok()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArffHeader>()?;
    module.add_class::<RowReader>()?;
    module.add_class::<Survey>()?;
    module.add_class::<LibsvmSurvey>()?;
    module.add_function(wrap_pyfunction!(split_line, module)?)?;
    module.add_function(wrap_pyfunction!(is_number, module)?)
}
