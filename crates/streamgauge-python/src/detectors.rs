//! Bindings of the detectors: one Python class holds any of them.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::KernelError;
use streamgauge_kernels::adaptive_window::Settings;
use streamgauge_kernels::detectors::{self as kernels, Detector as Kernel, Direction};

use crate::convert::{read_column, run_kernel, to_python};

/// Signals, statistic and threshold.
type Traced = (Py<PyArray1<u8>>, Py<PyArray1<f64>>, Py<PyArray1<f64>>);

/// The state of a detector in native code.
#[pyclass(module = "streamgauge._native")]
pub struct Detector {
    kernel: Box<dyn Kernel>,
}

impl Detector {
    /// Returns a copy of its kernel.
    pub fn clone_kernel(&self) -> Box<dyn Kernel> {
        self.kernel.clone()
    }
}

#[pymethods]
impl Detector {
    /// Adds values in order; returns the signal after each: 0 stable, 1 warning, 2 drift.
    fn update(&mut self, py: Python<'_>, values: PyReadonlyArray1<'_, f64>) -> PyResult<Py<PyArray1<u8>>> {
        let values = read_column("values", &values)?;
        let kernel = &mut self.kernel;
        let signals = run_kernel(py, || kernels::update_column(&mut **kernel, values))?;
        Ok(signals.into_pyarray(py).unbind())
    }

    /// Adds values like `update`; returns the signals, and the statistic and threshold compared after each value.
    fn trace(&mut self, py: Python<'_>, values: PyReadonlyArray1<'_, f64>) -> PyResult<Traced> {
        let values = read_column("values", &values)?;
        let kernel = &mut self.kernel;
        let trace = run_kernel(py, || kernels::trace_column(&mut **kernel, values))?;
        let to_column = |column: Vec<f64>| column.into_pyarray(py).unbind();
        let signals = trace.signals.into_pyarray(py).unbind();
        Ok((signals, to_column(trace.statistic), to_column(trace.threshold)))
    }

    /// Returns whether it compares one statistic with one threshold, which `trace` returns.
    #[getter]
    fn has_level(&self) -> bool {
        self.kernel.has_level()
    }

    /// Forgets everything but the options.
    fn reset(&mut self) {
        self.kernel.reset();
    }

    /// Returns the memory it uses in bytes.
    #[getter]
    fn n_bytes(&self) -> usize {
        self.kernel.n_bytes()
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

fn build<T: Kernel + 'static>(kernel: Result<T, KernelError>) -> PyResult<Detector> {
    Ok(Detector { kernel: Box::new(kernel.map_err(to_python)?) })
}

fn parse_direction(name: &str) -> PyResult<Direction> {
    match name {
        "up" => Ok(Direction::Up),
        "down" => Ok(Direction::Down),
        "both" => Ok(Direction::Both),
        _ => Err(PyValueError::new_err(format!("direction = {name:?}: it must be up, down or both"))),
    }
}

/// Builds ADWIN.
#[pyfunction]
fn adwin_detector(
    delta: f64,
    clock: u64,
    max_buckets: usize,
    min_window_length: u64,
    grace_period: u64,
    direction: &str,
) -> PyResult<Detector> {
    let settings = Settings { delta, clock, max_buckets, min_window_length, grace_period };
    build(kernels::Adwin::with_settings(settings, self::parse_direction(direction)?))
}

/// Builds the Page-Hinkley test.
#[pyfunction]
fn page_hinkley(delta: f64, threshold: f64, factor: f64, grace_period: u64, direction: &str) -> PyResult<Detector> {
    let direction = self::parse_direction(direction)?;
    build(kernels::PageHinkley::new(kernels::PageHinkleyOptions { delta, threshold, factor, grace_period, direction }))
}

/// Builds the cumulative sum chart.
#[pyfunction]
fn cusum(delta: f64, threshold: f64, grace_period: u64, direction: &str) -> PyResult<Detector> {
    let direction = self::parse_direction(direction)?;
    build(kernels::Cusum::new(kernels::CusumOptions { delta, threshold, grace_period, direction }))
}

/// Builds DDM.
#[pyfunction]
fn ddm(warning: f64, drift: f64, grace_period: u64) -> PyResult<Detector> {
    build(kernels::Ddm::new(kernels::DdmOptions { warning, drift, grace_period }))
}

/// Builds EDDM.
#[pyfunction]
fn eddm(warning: f64, drift: f64, grace_period: u64) -> PyResult<Detector> {
    build(kernels::Eddm::new(kernels::EddmOptions { warning, drift, grace_period }))
}

/// Builds RDDM.
#[pyfunction]
fn rddm(
    warning: f64,
    drift: f64,
    grace_period: u64,
    max_concept: u64,
    min_stable: usize,
    max_warning: u64,
) -> PyResult<Detector> {
    let levels = kernels::DdmOptions { warning, drift, grace_period };
    build(kernels::Rddm::new(kernels::RddmOptions { levels, max_concept, min_stable, max_warning }))
}

/// Builds HDDM, the A-test.
#[pyfunction]
fn hddm_a(warning: f64, drift: f64, direction: &str) -> PyResult<Detector> {
    let direction = self::parse_direction(direction)?;
    build(kernels::HddmA::new(kernels::HddmAOptions { warning, drift, direction }))
}

/// Builds HDDM, the W-test.
#[pyfunction]
fn hddm_w(warning: f64, drift: f64, newest_weight: f64, direction: &str) -> PyResult<Detector> {
    let direction = self::parse_direction(direction)?;
    build(kernels::HddmW::new(kernels::HddmWOptions { warning, drift, newest_weight, direction }))
}

/// Builds KSWIN.
#[pyfunction]
fn kswin(delta: f64, width: usize, n_newest: usize, seed: u64) -> PyResult<Detector> {
    build(kernels::Kswin::new(kernels::KswinOptions { delta, width, n_newest, seed }))
}

/// Builds ECDD.
#[pyfunction]
fn ewma_chart(newest_weight: f64, run_length: u64, grace_period: u64) -> PyResult<Detector> {
    build(kernels::EwmaChart::new(kernels::EwmaChartOptions { newest_weight, run_length, grace_period }))
}

/// Builds STEPD; its levels are values of the statistic.
#[pyfunction]
fn stepd(width: usize, warning: f64, drift: f64, direction: &str) -> PyResult<Detector> {
    let direction = self::parse_direction(direction)?;
    build(kernels::Stepd::new(kernels::StepdOptions { width, warning, drift, direction }))
}

/// Builds FHDDM.
#[pyfunction]
fn fhddm(delta: f64, width: usize) -> PyResult<Detector> {
    build(kernels::Fhddm::new(kernels::FhddmOptions { delta, width }))
}

/// Builds a copy of a detector on the running mean of the values, which restarts after a drift or continues.
#[pyfunction]
fn of_mean(detector: &Detector, restarts: bool) -> PyResult<Detector> {
    build(kernels::MeanDetector::new(detector.clone_kernel(), restarts))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Detector>()?;
    module.add_function(wrap_pyfunction!(adwin_detector, module)?)?;
    module.add_function(wrap_pyfunction!(page_hinkley, module)?)?;
    module.add_function(wrap_pyfunction!(cusum, module)?)?;
    module.add_function(wrap_pyfunction!(ddm, module)?)?;
    module.add_function(wrap_pyfunction!(eddm, module)?)?;
    module.add_function(wrap_pyfunction!(rddm, module)?)?;
    module.add_function(wrap_pyfunction!(hddm_a, module)?)?;
    module.add_function(wrap_pyfunction!(hddm_w, module)?)?;
    module.add_function(wrap_pyfunction!(kswin, module)?)?;
    module.add_function(wrap_pyfunction!(ewma_chart, module)?)?;
    module.add_function(wrap_pyfunction!(stepd, module)?)?;
    module.add_function(wrap_pyfunction!(fhddm, module)?)?;
    module.add_function(wrap_pyfunction!(of_mean, module)?)
}
