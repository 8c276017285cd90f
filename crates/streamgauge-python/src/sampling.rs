//! Bindings for counting, sampling and shuffling the rows of a text in chunks of bytes.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::sampling::{self, Group, SampledRows};
use streamgauge_kernels::shuffling;
use streamgauge_kernels::text::{self, Classes};

use crate::convert::{read_column, run_kernel, to_python};
use crate::text::{Position, build_dialect, build_names, to_mark};

/// The shape of the rows of a text.
#[pyclass(frozen, module = "streamgauge._native")]
struct RawRows(text::RawRows);

#[pymethods]
impl RawRows {
    #[new]
    fn new(delimiter: u8, arff: bool, missing: Vec<String>, n_fields: usize, class_field: usize) -> PyResult<Self> {
        let dialect = build_dialect(delimiter, arff, missing)?;
        text::RawRows::new(dialect, n_fields, class_field).map(Self).map_err(to_python)
    }
}

/// The first pass over a text: counts the rows of each class.
#[pyclass(module = "streamgauge._native")]
struct Counting(sampling::Counting);

#[pymethods]
impl Counting {
    #[new]
    fn new(rows: &RawRows, classes: Option<Vec<String>>, position: Position, indexed: bool) -> PyResult<Self> {
        let classes = match classes {
            None => Classes::discovered(),
            Some(classes) => Classes::declared(build_names(classes)?),
        };
        Ok(Self(sampling::Counting::new(rows.0.clone(), classes, to_mark(position), indexed)))
    }

    fn update<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let index = run_kernel(py, || self.0.update(chunk))?;
        Ok(to_bytes_list(py, &index))
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let index = run_kernel(py, || self.0.finish())?;
        Ok(to_bytes_list(py, &index))
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().to_vec()
    }

    #[getter]
    fn counts(&self) -> Vec<u64> {
        self.0.counts().to_vec()
    }

    #[getter]
    fn n_rows(&self) -> u64 {
        self.0.n_rows()
    }
}

/// The selection of rows for the training and the test set.
#[pyclass(module = "streamgauge._native")]
struct Selection(sampling::Selection);

#[pymethods]
impl Selection {
    #[new]
    fn new(groups: Vec<(u64, u64, u64)>, labelled: u64, seed: u64) -> Self {
        let groups: Vec<Group> =
            groups.into_iter().map(|(rows, training, test)| Group { rows, training, test }).collect();
        Self(sampling::Selection::new(&groups, labelled, seed))
    }

    fn update<'py>(
        &mut self,
        py: Python<'py>,
        groups: PyReadonlyArray1<'py, i32>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let groups = read_column("groups", &groups)?;
        let mut assignments = vec![0; groups.len()];
        run_kernel(py, || self.0.update(groups, &mut assignments))?;
        Ok(assignments.into_pyarray(py))
    }

    fn finish(&self) -> PyResult<()> {
        self.0.finish().map_err(to_python)
    }
}

type ThreeTexts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The second pass over a text: copies the selected rows.
#[pyclass(module = "streamgauge._native")]
struct Sampling(sampling::Sampling);

#[pymethods]
impl Sampling {
    #[new]
    fn new(
        rows: &RawRows,
        classes: Vec<String>,
        groups: Vec<usize>,
        truths: Vec<Vec<u8>>,
        kept_fields: Option<Vec<bool>>,
        selection: &Selection,
        header: &[u8],
        position: Position,
    ) -> PyResult<Self> {
        let (rows, classes) = (rows.0.clone(), Classes::declared(build_names(classes)?));
        sampling::Sampling::new(
            rows,
            classes,
            groups,
            truths,
            kept_fields,
            selection.0.clone(),
            header,
            to_mark(position),
        )
        .map(Self)
        .map_err(to_python)
    }

    fn update<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> PyResult<ThreeTexts<'py>> {
        let sampled = run_kernel(py, || self.0.update(chunk))?;
        Ok(to_three_texts(py, sampled))
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<ThreeTexts<'py>> {
        let sampled = run_kernel(py, || self.0.finish())?;
        Ok(to_three_texts(py, sampled))
    }

    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:032x}", self.0.hash())
    }
}

/// A scatter of rows over buckets.
#[pyclass(module = "streamgauge._native")]
struct Scatter(shuffling::Scatter);

#[pymethods]
impl Scatter {
    #[new]
    fn new(rows: &RawRows, n_buckets: usize, seed: u64, address: u64, position: Position) -> PyResult<Self> {
        shuffling::Scatter::new(rows.0.clone(), n_buckets, seed, address, to_mark(position))
            .map(Self)
            .map_err(to_python)
    }

    fn update<'py>(&mut self, py: Python<'py>, chunk: &[u8]) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let buckets = run_kernel(py, || self.0.update(chunk))?;
        Ok(to_bytes_list(py, &buckets))
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let buckets = run_kernel(py, || self.0.finish())?;
        Ok(to_bytes_list(py, &buckets))
    }

    #[getter]
    fn n_rows(&self) -> u64 {
        self.0.n_rows()
    }
}

/// Shuffles the lines of a text.
#[pyfunction]
fn shuffled_lines<'py>(py: Python<'py>, text: &[u8], seed: u64, address: u64) -> Bound<'py, PyBytes> {
    let shuffled = py.detach(|| shuffling::shuffle_lines(text, seed, address));
    PyBytes::new(py, &shuffled)
}

fn to_bytes_list<'py>(py: Python<'py>, texts: &[Vec<u8>]) -> Vec<Bound<'py, PyBytes>> {
    texts.iter().map(|text| PyBytes::new(py, text)).collect()
}

fn to_three_texts<'py>(py: Python<'py>, sampled: &SampledRows) -> ThreeTexts<'py> {
    (PyBytes::new(py, &sampled.training), PyBytes::new(py, &sampled.test), PyBytes::new(py, &sampled.truth))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawRows>()?;
    module.add_class::<Counting>()?;
    module.add_class::<Selection>()?;
    module.add_class::<Sampling>()?;
    module.add_class::<Scatter>()?;
    module.add_function(wrap_pyfunction!(shuffled_lines, module)?)
}
