//! Bindings of the baselines of a fold.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::adaptive_window::Settings;
use streamgauge_kernels::baselines::{self as kernels, LabelRows, MajorityBaseline as Kernel};

use crate::convert::{read_column, read_optional_column, run_kernel, to_python};

type Hits = Py<PyArray1<bool>>;
type Numbers = Py<PyArray1<f64>>;

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

/// The baselines of a fold with a numeric target: the mean of the targets so far and the target seen last.
#[pyclass(module = "streamgauge._native")]
struct NumberBaselines {
    kernel: kernels::NumberBaselines,
}

#[pymethods]
impl NumberBaselines {
    #[new]
    fn new() -> Self {
        Self { kernel: kernels::NumberBaselines::default() }
    }

    /// Returns what each of the two predicts for every row, before it learns the row's target; NaN for none yet.
    fn update(
        &mut self,
        py: Python<'_>,
        targets: PyReadonlyArray1<'_, f64>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<(Numbers, Numbers)> {
        let targets = read_column("targets", &targets)?;
        let weight = read_optional_column("weight", weight.as_ref())?;
        let kernel = &mut self.kernel;
        let (means, lasts) = run_kernel(py, || kernel.update(targets, weight))?;
        Ok((means.into_pyarray(py).unbind(), lasts.into_pyarray(py).unbind()))
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

/// The majority class among the labels that a forgetting remembers.
#[pyclass(module = "streamgauge._native")]
struct MajorityBaseline {
    kernel: Box<dyn Kernel>,
}

#[pymethods]
impl MajorityBaseline {
    /// Returns which rows it predicts right, each before it is learnt.
    #[pyo3(signature = (truth, labels, weight = None, time = None))]
    fn update(
        &mut self,
        py: Python<'_>,
        truth: PyReadonlyArray1<'_, i32>,
        labels: PyReadonlyArray1<'_, i32>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        time: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Hits> {
        let rows = LabelRows {
            truth: read_column("truth", &truth)?,
            labels: read_column("labels", &labels)?,
            weight: read_optional_column("weight", weight.as_ref())?,
            time: read_optional_column("time", time.as_ref())?,
        };
        let kernel = &mut self.kernel;
        let hits = run_kernel(py, || kernel.update(&rows))?;
        Ok(hits.into_pyarray(py).unbind())
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

/// Builds the majority of the last labels.
#[pyfunction]
fn recent_labels(n_classes: usize, width: usize) -> PyResult<MajorityBaseline> {
    Ok(MajorityBaseline { kernel: Box::new(kernels::RecentLabels::new(n_classes, width).map_err(to_python)?) })
}

/// Builds the majority of the labels that arrived in the last seconds.
#[pyfunction]
fn timed_labels(n_classes: usize, seconds: f64) -> MajorityBaseline {
    MajorityBaseline { kernel: Box::new(kernels::TimedLabels::new(n_classes, seconds)) }
}

/// Builds the majority of labels that fade.
#[pyfunction]
fn fading_labels(n_classes: usize, factor: f64, chunk: u64) -> MajorityBaseline {
    MajorityBaseline { kernel: Box::new(kernels::FadingLabels::new(n_classes, factor, chunk)) }
}

/// Builds the majority of the labels since its error rate last changed.
#[pyfunction]
fn adaptive_labels(
    n_classes: usize,
    delta: f64,
    clock: u64,
    max_buckets: usize,
    min_window_length: u64,
    grace_period: u64,
) -> PyResult<MajorityBaseline> {
    let settings = Settings { delta, clock, max_buckets, min_window_length, grace_period };
    Ok(MajorityBaseline { kernel: Box::new(kernels::AdaptiveLabels::new(n_classes, settings).map_err(to_python)?) })
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
    module.add_function(wrap_pyfunction!(recent_labels, module)?)?;
    module.add_function(wrap_pyfunction!(timed_labels, module)?)?;
    module.add_function(wrap_pyfunction!(fading_labels, module)?)?;
    module.add_function(wrap_pyfunction!(adaptive_labels, module)?)?;
    module.add_class::<MajorityBaseline>()?;
    module.add_class::<NumberBaselines>()?;
    module.add_class::<Baselines>()
}
