//! Bindings of the baselines of a fold.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::baselines as kernels;

use crate::convert::{read_column, read_optional_column, run_kernel, to_python};

type Hits = Py<PyArray1<bool>>;

/// The baselines of a fold: the majority class so far and the class seen last.
#[pyclass(module = "streamgauge._native")]
struct Baselines {
    kernel: kernels::Baselines,
}

#[pymethods]
impl Baselines {
    #[new]
    fn new(n_classes: usize) -> Self {
        Self { kernel: kernels::Baselines::new(n_classes) }
    }

    /// Returns which rows each of the two predicts right, before it learns them.
    fn update(
        &mut self,
        py: Python<'_>,
        truth: PyReadonlyArray1<'_, i32>,
        labels: PyReadonlyArray1<'_, i32>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<(Hits, Hits)> {
        let (truth, labels) = (read_column("truth", &truth)?, read_column("labels", &labels)?);
        let weight = read_optional_column("weight", weight.as_ref())?;
        let kernel = &mut self.kernel;
        let hits = run_kernel(py, || kernel.update(truth, labels, weight))?;
        Ok((hits.majority.into_pyarray(py).unbind(), hits.no_change.into_pyarray(py).unbind()))
    }

    /// Saves the state.
    fn save(&self, py: Python<'_>) -> Py<PyBytes> {
        PyBytes::new(py, &self.kernel.save()).unbind()
    }

    /// Restores a saved state.
    fn load(&mut self, state: &[u8]) -> PyResult<()> {
        self.kernel.load(state).map_err(to_python)
    }
}

/// Counts the occurrences of each class in each piece of a column, and the rows without a label.
#[pyfunction]
fn count_labels(
    py: Python<'_>,
    labels: PyReadonlyArray1<'_, i32>,
    ends: Vec<usize>,
    n_classes: usize,
) -> PyResult<Py<PyArray1<u64>>> {
    let labels = read_column("labels", &labels)?;
    let counts = run_kernel(py, || Ok(kernels::count_labels(labels, &ends, n_classes)))?;
    Ok(counts.into_pyarray(py).unbind())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(count_labels, module)?)?;
    module.add_class::<Baselines>()
}
