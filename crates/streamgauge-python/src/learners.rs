//! Bindings of the learners: one Python class holds any of them.

use std::collections::HashMap;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::error::check_length;
use streamgauge_kernels::learners::{self as kernels, Learner as Kernel, Schema, Step};

use crate::convert::{allocate_column, read_column, read_optional_column, read_table, run_kernel, to_table};

type Predictions = Py<PyArray1<i32>>;
type Votes = Py<PyArray2<f64>>;
type Nanoseconds = Py<PyArray1<u64>>;

/// A learner in native code.
#[pyclass(module = "streamgauge._native")]
pub struct Learner {
    pub kernel: Box<dyn Kernel>,
}

impl Learner {
    /// Wraps a kernel for Python.
    pub fn new(kernel: Box<dyn Kernel>) -> Self {
        Self { kernel }
    }

    /// Takes the kernel out, to be a member of another learner, and leaves an untrained baseline in its place.
    pub fn take(&mut self) -> Box<dyn Kernel> {
        let schema = Schema { n_values: vec![], n_classes: 1 };
        std::mem::replace(&mut self.kernel, Box::new(kernels::NoChange::new(schema)))
    }
}

#[pymethods]
impl Learner {
    /// Predicts each tested row, then learns it; returns the predictions, and the votes if requested.
    #[pyo3(signature = (x, y, test, weight, with_votes))]
    fn interleave(
        &mut self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, i32>,
        test: Option<PyReadonlyArray1<'_, bool>>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        with_votes: bool,
    ) -> PyResult<(Predictions, Option<Votes>)> {
        let step = read_step(&x, &y, test.as_ref(), weight.as_ref())?;
        let (n, n_classes) = (step.y.len(), self.kernel.schema().n_classes);
        let kernel = &mut self.kernel;
        let predictions = allocate_column::<i32>(py, n)?;
        let mut written = predictions.try_readwrite()?;
        let predicted = written.as_slice_mut()?;
        let votes = run_kernel(py, || {
            step.check(kernel.schema())?;
            let mut votes = with_votes.then(|| vec![0.0; n * n_classes]);
            kernel.interleave(&step, predicted, votes.as_deref_mut());
            Ok(votes)
        })?;
        drop(written);
        let votes = votes.map(|votes| to_table(py, "votes", votes, (n, n_classes))).transpose()?;
        Ok((predictions.unbind(), votes))
    }

    /// Like `interleave`, row by row; also returns the nanoseconds that predicting and learning each row took.
    #[pyo3(signature = (x, y, test, weight, with_votes))]
    fn interleave_timed(
        &mut self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, i32>,
        test: Option<PyReadonlyArray1<'_, bool>>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        with_votes: bool,
    ) -> PyResult<(Predictions, Option<Votes>, Nanoseconds, Nanoseconds)> {
        let step = read_step(&x, &y, test.as_ref(), weight.as_ref())?;
        let (n, n_classes) = (step.y.len(), self.kernel.schema().n_classes);
        let kernel = &mut self.kernel;
        let (predictions, votes, timings) = run_kernel(py, || {
            step.check(kernel.schema())?;
            let mut predictions = vec![0; n];
            let mut votes = with_votes.then(|| vec![0.0; n * n_classes]);
            let timings = kernels::interleave_timed(kernel.as_mut(), &step, &mut predictions, votes.as_deref_mut());
            Ok((predictions, votes, timings))
        })?;
        let votes = votes.map(|votes| to_table(py, "votes", votes, (n, n_classes))).transpose()?;
        let (predict, learn) = (timings.predict.into_pyarray(py).unbind(), timings.learn.into_pyarray(py).unbind());
        Ok((predictions.into_pyarray(py).unbind(), votes, predict, learn))
    }

    /// Returns the votes for each row, without changing the learner.
    fn predict(&self, py: Python<'_>, x: PyReadonlyArray2<'_, f64>) -> PyResult<Votes> {
        let rows = read_table("x", &x)?;
        let (d, n_classes) = (self.kernel.schema().n_attributes(), self.kernel.schema().n_classes);
        let n = x.as_array().nrows();
        let kernel = &self.kernel;
        let votes = run_kernel(py, || {
            check_length("x", rows.len(), n * d)?;
            let mut votes = vec![0.0; n * n_classes];
            kernel.predict(rows, &mut votes);
            Ok(votes)
        })?;
        to_table(py, "votes", votes, (n, n_classes))
    }

    /// Returns further facts about it, such as the number of nodes of a tree.
    #[getter]
    fn facts(&self) -> HashMap<&'static str, u64> {
        self.kernel.facts().into_iter().collect()
    }

    /// Returns the memory it uses in bytes.
    #[getter]
    fn n_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        run_kernel(py, || Ok(self.kernel.n_bytes()))
    }

    /// Saves the state.
    fn save(&self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        Ok(PyBytes::new(py, &run_kernel(py, || Ok(self.kernel.save()))?).unbind())
    }

    /// Restores a saved state.
    fn load(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || kernel.load(state))
    }
}

/// Reads the columns of a step.
fn read_step<'a>(
    x: &'a PyReadonlyArray2<'_, f64>,
    y: &'a PyReadonlyArray1<'_, i32>,
    test: Option<&'a PyReadonlyArray1<'_, bool>>,
    weight: Option<&'a PyReadonlyArray1<'_, f64>>,
) -> PyResult<Step<'a>> {
    Ok(Step {
        x: read_table("x", x)?,
        y: read_column("y", y)?,
        test: read_optional_column("test", test)?,
        weight: read_optional_column("weight", weight)?,
    })
}

/// Builds the schema of a learner.
pub fn build_schema(n_values: &PyReadonlyArray1<'_, u32>, n_classes: usize) -> PyResult<Schema> {
    Ok(Schema { n_values: read_column("n_values", n_values)?.to_vec(), n_classes })
}

/// Builds a learner that predicts the most frequent class.
#[pyfunction]
fn majority_class(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize) -> PyResult<Learner> {
    Ok(Learner { kernel: Box::new(kernels::MajorityClass::new(build_schema(&n_values, n_classes)?)) })
}

/// Builds a learner that predicts the class seen last.
#[pyfunction]
fn no_change(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize) -> PyResult<Learner> {
    Ok(Learner { kernel: Box::new(kernels::NoChange::new(build_schema(&n_values, n_classes)?)) })
}

/// Builds naive Bayes.
#[pyfunction]
fn naive_bayes(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize) -> PyResult<Learner> {
    Ok(Learner { kernel: kernels::naive_bayes(build_schema(&n_values, n_classes)?) })
}

/// Checks every value, label and weight of a batch against its schema.
#[pyfunction]
fn check_batch(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    missing: PyReadonlyArray1<'_, bool>,
    n_classes: usize,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray1<'_, i32>,
    weight: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<()> {
    let schema = build_schema(&n_values, n_classes)?;
    let (x, y) = (read_table("x", &x)?, read_column("y", &y)?);
    let (missing, weight) = (read_column("missing", &missing)?, read_optional_column("weight", weight.as_ref())?);
    run_kernel(py, || schema.check(x, y, weight, missing))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Learner>()?;
    module.add_function(wrap_pyfunction!(majority_class, module)?)?;
    module.add_function(wrap_pyfunction!(no_change, module)?)?;
    module.add_function(wrap_pyfunction!(naive_bayes, module)?)?;
    module.add_function(wrap_pyfunction!(check_batch, module)?)
}
