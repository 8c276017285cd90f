//! Bindings of the regressors: one Python class holds any of them.

use std::collections::HashMap;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::error::check_length;
use streamgauge_kernels::learners::{self as kernels, NumberStep, Regressor as Kernel};

use crate::convert::{read_column, read_optional_column, read_table, run_kernel};

type Numbers = Py<PyArray1<f64>>;
type Nanoseconds = Py<PyArray1<u64>>;

/// A regressor in native code.
#[pyclass(module = "streamgauge._native")]
struct Regressor {
    kernel: Box<dyn Kernel>,
}

#[pymethods]
impl Regressor {
    /// Predicts each tested row, then learns it; returns the predictions.
    #[pyo3(signature = (x, y, test, weight))]
    fn interleave(
        &mut self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
        test: Option<PyReadonlyArray1<'_, bool>>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Numbers> {
        let step = read_step(&x, &y, test.as_ref(), weight.as_ref())?;
        let kernel = &mut self.kernel;
        let predictions = run_kernel(py, || {
            step.check(kernel.n_values().len())?;
            let mut predictions = vec![0.0; step.y.len()];
            kernel.interleave(&step, &mut predictions);
            Ok(predictions)
        })?;
        Ok(predictions.into_pyarray(py).unbind())
    }

    /// Like `interleave`, row by row; also returns the nanoseconds that predicting and learning each row took.
    #[pyo3(signature = (x, y, test, weight))]
    fn interleave_timed(
        &mut self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
        test: Option<PyReadonlyArray1<'_, bool>>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<(Numbers, Nanoseconds, Nanoseconds)> {
        let step = read_step(&x, &y, test.as_ref(), weight.as_ref())?;
        let kernel = &mut self.kernel;
        let (predictions, timings) = run_kernel(py, || {
            step.check(kernel.n_values().len())?;
            let mut predictions = vec![0.0; step.y.len()];
            let timings = kernels::interleave_numbers_timed(kernel.as_mut(), &step, &mut predictions);
            Ok((predictions, timings))
        })?;
        let (predict, learn) = (timings.predict.into_pyarray(py).unbind(), timings.learn.into_pyarray(py).unbind());
        Ok((predictions.into_pyarray(py).unbind(), predict, learn))
    }

    /// Returns the prediction for each row, without changing the learner.
    fn predict(&self, py: Python<'_>, x: PyReadonlyArray2<'_, f64>) -> PyResult<Numbers> {
        let (rows, n) = (read_table("x", &x)?, x.as_array().nrows());
        let kernel = &self.kernel;
        let predictions = run_kernel(py, || {
            check_length("x", rows.len(), n * kernel.n_values().len())?;
            let mut predictions = vec![0.0; n];
            kernel.predict(rows, &mut predictions);
            Ok(predictions)
        })?;
        Ok(predictions.into_pyarray(py).unbind())
    }

    /// Returns further facts about it, such as the number of rows that it remembers.
    #[getter]
    fn facts(&self) -> HashMap<&'static str, u64> {
        self.kernel.facts().into_iter().collect()
    }

    /// Returns the memory it uses in bytes.
    #[getter]
    fn n_bytes(&self) -> usize {
        self.kernel.n_bytes()
    }

    /// Saves the state.
    fn save(&self, py: Python<'_>) -> Py<PyBytes> {
        PyBytes::new(py, &py.detach(|| self.kernel.save())).unbind()
    }

    /// Restores a saved state.
    fn load(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || kernel.load(state))
    }
}

fn read_step<'a>(
    x: &'a PyReadonlyArray2<'_, f64>,
    y: &'a PyReadonlyArray1<'_, f64>,
    test: Option<&'a PyReadonlyArray1<'_, bool>>,
    weight: Option<&'a PyReadonlyArray1<'_, f64>>,
) -> PyResult<NumberStep<'a>> {
    Ok(NumberStep {
        x: read_table("x", x)?,
        y: read_column("y", y)?,
        test: read_optional_column("test", test)?,
        weight: read_optional_column("weight", weight)?,
    })
}

fn wrap(kernel: impl Kernel + 'static) -> Regressor {
    Regressor { kernel: Box::new(kernel) }
}

/// Builds a regressor that predicts the mean of the targets so far.
#[pyfunction]
fn mean_target(n_values: PyReadonlyArray1<'_, u32>) -> PyResult<Regressor> {
    Ok(wrap(kernels::MeanTarget::new(read_column("n_values", &n_values)?.to_vec())))
}

/// Builds a regressor that predicts the target learnt last.
#[pyfunction]
fn last_target(n_values: PyReadonlyArray1<'_, u32>) -> PyResult<Regressor> {
    Ok(wrap(kernels::LastTarget::new(read_column("n_values", &n_values)?.to_vec())))
}

/// Builds a regressor that remembers every row.
#[pyfunction]
fn target_memoriser(n_values: PyReadonlyArray1<'_, u32>) -> PyResult<Regressor> {
    Ok(wrap(kernels::TargetMemoriser::new(read_column("n_values", &n_values)?.to_vec())))
}

/// Builds a linear regression.
#[pyfunction]
fn linear_regression(
    n_values: PyReadonlyArray1<'_, u32>,
    learning_rate: f64,
    l2: f64,
    standardise: bool,
) -> PyResult<Regressor> {
    let options = kernels::LinearRegressionOptions { learning_rate, l2, standardise };
    Ok(wrap(kernels::LinearRegression::new(read_column("n_values", &n_values)?.to_vec(), options)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Regressor>()?;
    module.add_function(wrap_pyfunction!(mean_target, module)?)?;
    module.add_function(wrap_pyfunction!(last_target, module)?)?;
    module.add_function(wrap_pyfunction!(target_memoriser, module)?)?;
    module.add_function(wrap_pyfunction!(linear_regression, module)?)
}
