//! Bindings of adaptive forests.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use streamgauge_kernels::learners::{self as kernels, AdaptiveForestOptions};

use crate::composition::PythonFactory;
use crate::convert::run_kernel;
use crate::learners::{Learner, build_schema};
use crate::trees::TreeOptions;

/// Builds an adaptive random forest.
#[pyfunction]
fn adaptive_random_forest(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    n_members: usize,
    subspace: usize,
    mean_weight: f64,
    warning_delta: Option<f64>,
    drift_delta: Option<f64>,
    weighted_votes: bool,
    options: PyRef<'_, TreeOptions>,
    seed: u64,
) -> PyResult<Learner> {
    let tree = options.options;
    let options = AdaptiveForestOptions {
        n_members,
        mean_weight: Some(mean_weight),
        member_subspace: None,
        warning_delta,
        drift_delta,
        weighted_votes,
        weighted_background: false,
        learns_twice: false,
    };
    let schema = build_schema(&n_values, n_classes)?;
    let kernel = run_kernel(py, || kernels::adaptive_random_forest(schema, options, tree, subspace, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds streaming random patches.
#[pyfunction]
fn streaming_random_patches(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    build: Py<PyAny>,
    n_members: usize,
    subspace: Option<usize>,
    mean_weight: Option<f64>,
    warning_delta: Option<f64>,
    drift_delta: Option<f64>,
    weighted_votes: bool,
    seed: u64,
) -> PyResult<Learner> {
    let options = AdaptiveForestOptions {
        n_members,
        mean_weight,
        member_subspace: subspace,
        warning_delta,
        drift_delta,
        weighted_votes,
        weighted_background: true,
        learns_twice: true,
    };
    let (schema, factory) = (build_schema(&n_values, n_classes)?, Arc::new(PythonFactory::new(build)));
    let kernel = run_kernel(py, || kernels::streaming_random_patches(schema, options, factory, seed))?;
    Ok(Learner::new(Box::new(kernel)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(adaptive_random_forest, module)?)?;
    module.add_function(wrap_pyfunction!(streaming_random_patches, module)?)
}
