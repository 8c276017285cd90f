//! Forgetting: one Python class holds the state of any kind.

use numpy::ndarray::{ArrayBase, Dimension, OwnedRepr, ShapeBuilder, ShapeError, StrideShape};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::adaptive_window::Settings;
use streamgauge_kernels::forgetting::{self as kernels, Columns, Forgetting as Kernel, Outcomes};

use crate::convert::{column, optional_column, to_python, work};

type Tallies = (Py<PyArray3<f64>>, Py<PyArray2<f64>>, Py<PyArray3<f64>>, Py<PyArray1<u64>>);

/// The state of a forgetting in native code.
#[pyclass(module = "streamgauge._native")]
struct Forgetting {
    kernel: Box<dyn Kernel>,
}

#[pymethods]
impl Forgetting {
    /// Take in rows; the tallies after the first `stop` of them, for each of the ascending stops: confusion [s, c, c],
    /// abstained [s, c], hits of the majority class and of no change by true class [s, 2, c], widths [s].
    #[pyo3(signature = (y_true, y_pred, majority_hit, no_change_hit, weight, stops))]
    fn update(
        &mut self,
        py: Python<'_>,
        y_true: PyReadonlyArray1<'_, i32>,
        y_pred: PyReadonlyArray1<'_, i32>,
        majority_hit: PyReadonlyArray1<'_, bool>,
        no_change_hit: PyReadonlyArray1<'_, bool>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        stops: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Tallies> {
        let columns = Columns {
            y_true: column("y_true", &y_true)?,
            y_pred: column("y_pred", &y_pred)?,
            majority_hit: column("majority_hit", &majority_hit)?,
            no_change_hit: column("no_change_hit", &no_change_hit)?,
            weight: optional_column("weight", weight.as_ref())?,
        };
        // A stop below 0 becomes one far beyond the end, which the kernel refuses.
        let stops: Vec<usize> = column("stops", &stops)?.iter().map(|&stop| stop as usize).collect();
        let kernel = &mut self.kernel;
        let tallies = work(py, || kernel.update(&columns, &stops))?;
        let (s, c) = (stops.len(), tallies.n_classes);
        Ok((
            shaped((s, c, c), tallies.confusion)?.into_pyarray(py).unbind(),
            shaped((s, c), tallies.abstained)?.into_pyarray(py).unbind(),
            shaped((s, 2, c), tallies.hits)?.into_pyarray(py).unbind(),
            tallies.widths.into_pyarray(py).unbind(),
        ))
    }

    /// The bytes it holds.
    #[getter]
    fn n_bytes(&self) -> usize {
        self.kernel.n_bytes()
    }

    /// All of its state.
    fn save(&self, py: Python<'_>) -> Py<PyBytes> {
        PyBytes::new(py, &py.detach(|| self.kernel.save())).unbind()
    }

    /// Take over a saved state.
    fn load(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        work(py, || kernel.load(state))
    }
}

fn shaped<D: Dimension>(
    shape: impl ShapeBuilder<Dim = D> + Into<StrideShape<D>>,
    values: Vec<f64>,
) -> PyResult<ArrayBase<OwnedRepr<f64>, D>> {
    ArrayBase::from_shape_vec(shape, values).map_err(|error: ShapeError| PyValueError::new_err(error.to_string()))
}

fn outcomes(n_classes: usize) -> PyResult<Outcomes> {
    Outcomes::new(n_classes).map_err(to_python)
}

/// Nothing is forgotten.
#[pyfunction]
fn landmark(n_classes: usize) -> PyResult<Forgetting> {
    Ok(Forgetting { kernel: Box::new(kernels::Landmark::new(outcomes(n_classes)?)) })
}

/// A sliding window of the last `width` rows.
#[pyfunction]
fn window(n_classes: usize, width: usize) -> PyResult<Forgetting> {
    let kernel = kernels::Window::new(outcomes(n_classes)?, width).map_err(to_python)?;
    Ok(Forgetting { kernel: Box::new(kernel) })
}

/// Weights that fade by a factor with every row.
#[pyfunction]
fn fading(n_classes: usize, factor: f64) -> PyResult<Forgetting> {
    let kernel = kernels::Fading::new(outcomes(n_classes)?, factor).map_err(to_python)?;
    Ok(Forgetting { kernel: Box::new(kernel) })
}

/// A window that adapts its width to the errors.
#[pyfunction]
fn adwin(
    n_classes: usize,
    delta: f64,
    clock: u64,
    max_buckets: usize,
    min_window_length: u64,
    grace_period: u64,
) -> PyResult<Forgetting> {
    let settings = Settings { delta, clock, max_buckets, min_window_length, grace_period };
    let kernel = kernels::Adwin::new(outcomes(n_classes)?, settings).map_err(to_python)?;
    Ok(Forgetting { kernel: Box::new(kernel) })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Forgetting>()?;
    module.add_function(wrap_pyfunction!(landmark, module)?)?;
    module.add_function(wrap_pyfunction!(window, module)?)?;
    module.add_function(wrap_pyfunction!(fading, module)?)?;
    module.add_function(wrap_pyfunction!(adwin, module)?)
}
