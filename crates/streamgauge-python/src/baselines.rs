//! The baselines of a fold.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::baselines as kernels;

use crate::convert::{read_column, read_optional_column, run_kernel, to_python};

type Hits = Py<PyArray1<bool>>;

/// The majority class so far and the class seen last, as predictors.
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

    /// Which rows each of the two gets right, before it learns them.
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

    /// All of their state.
    fn save(&self, py: Python<'_>) -> Py<PyBytes> {
        PyBytes::new(py, &self.kernel.save()).unbind()
    }

    /// Take over a saved state.
    fn load(&mut self, state: &[u8]) -> PyResult<()> {
        self.kernel.load(state).map_err(to_python)
    }
}

/// How often each class occurs in each piece of a column, and how often none is known.
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
