//! Bindings of learners made of learners.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use streamgauge_kernels::learners::{
    DriftReset, DynamicWeightedMajority, DynamicWeightedMajorityOptions, Factory, LeveragingBagging, OneVsRest, OzaBag,
    OzaBoost, Resampling, ResamplingBag,
};

use crate::composition::PythonFactory;
use crate::convert::run_kernel;
use crate::detectors::Detector;
use crate::learners::{Learner, build_schema};

fn wrap_factory(build: Py<PyAny>) -> Arc<dyn Factory> {
    Arc::new(PythonFactory::new(build))
}

/// Builds online bagging.
#[pyfunction]
fn oza_bag(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    n_members: usize,
    seed: u64,
) -> PyResult<Learner> {
    let (schema, factory) = (build_schema(&n_values, n_classes)?, wrap_factory(build));
    let kernel = run_kernel(py, || OzaBag::new(schema, factory, n_members, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds online bagging that oversamples small classes, or undersamples large ones.
#[pyfunction]
fn resampling_bag(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    n_members: usize,
    oversample: bool,
    decay: f64,
    seed: u64,
) -> PyResult<Learner> {
    let (schema, factory) = (build_schema(&n_values, n_classes)?, wrap_factory(build));
    let resampling = if oversample { Resampling::Over } else { Resampling::Under };
    let kernel = run_kernel(py, || ResamplingBag::new(schema, factory, n_members, resampling, decay, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds dynamic weighted majority.
#[pyfunction]
fn dynamic_weighted_majority(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    n_members: usize,
    factor: f64,
    threshold: f64,
    period: u64,
    seed: u64,
) -> PyResult<Learner> {
    let (schema, factory) = (build_schema(&n_values, n_classes)?, wrap_factory(build));
    let options = DynamicWeightedMajorityOptions { n_members, factor, threshold, period };
    let kernel = run_kernel(py, || DynamicWeightedMajority::new(schema, factory, options, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds leveraging bagging.
#[pyfunction]
fn leveraging_bagging(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    n_members: usize,
    mean_weight: f64,
    delta: f64,
    seed: u64,
) -> PyResult<Learner> {
    let (schema, factory) = (build_schema(&n_values, n_classes)?, wrap_factory(build));
    let kernel = run_kernel(py, || LeveragingBagging::new(schema, factory, n_members, mean_weight, delta, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds online boosting.
#[pyfunction]
fn oza_boost(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    n_members: usize,
    pure: bool,
    seed: u64,
) -> PyResult<Learner> {
    let (schema, factory) = (build_schema(&n_values, n_classes)?, wrap_factory(build));
    let kernel = run_kernel(py, || OzaBoost::new(schema, factory, n_members, pure, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds one learner per class against the rest.
#[pyfunction]
fn one_vs_rest(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    seed: u64,
) -> PyResult<Learner> {
    let (schema, factory) = (build_schema(&n_values, n_classes)?, wrap_factory(build));
    let kernel = run_kernel(py, || OneVsRest::new(schema, factory, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds a learner that restarts after a drift.
#[pyfunction]
fn drift_reset(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    detector: PyRef<'_, Detector>,
    on_warning: bool,
    seed: u64,
) -> PyResult<Learner> {
    let (schema, factory) = (build_schema(&n_values, n_classes)?, wrap_factory(build));
    let detector = detector.clone_kernel();
    let kernel = run_kernel(py, || DriftReset::new(schema, factory, detector, on_warning, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(drift_reset, module)?)?;
    module.add_function(wrap_pyfunction!(oza_bag, module)?)?;
    module.add_function(wrap_pyfunction!(resampling_bag, module)?)?;
    module.add_function(wrap_pyfunction!(dynamic_weighted_majority, module)?)?;
    module.add_function(wrap_pyfunction!(leveraging_bagging, module)?)?;
    module.add_function(wrap_pyfunction!(oza_boost, module)?)?;
    module.add_function(wrap_pyfunction!(one_vs_rest, module)?)
}
