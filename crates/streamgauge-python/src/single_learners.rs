//! Bindings of single learners (linear models, neighbours, guesses, the memoriser) and of a filter around any learner.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::learners::{self as kernels, Factory, LinearOptions, LinearRule};

use crate::composition::PythonFactory;
use crate::convert::{run_kernel, to_python};
use crate::learners::{Learner, build_schema};

/// Builds a learner that predicts the most frequent class of the last rows.
#[pyfunction]
fn recent_majority(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize, window: usize) -> PyResult<Learner> {
    let kernel = kernels::RecentMajority::new(build_schema(&n_values, n_classes)?, window).map_err(to_python)?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds a learner that guesses with the frequencies so far.
#[pyfunction]
fn random_guess(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize, seed: u64) -> PyResult<Learner> {
    Ok(Learner::new(Box::new(kernels::RandomGuess::new(build_schema(&n_values, n_classes)?, seed))))
}

/// Builds a learner that memorises rows.
#[pyfunction]
fn memoriser(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize, seed: u64) -> PyResult<Learner> {
    Ok(Learner::new(Box::new(kernels::Memoriser::new(build_schema(&n_values, n_classes)?, seed))))
}

/// Builds nearest neighbours over the last rows.
#[pyfunction]
fn nearest_neighbours(
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    k: usize,
    window: usize,
) -> PyResult<Learner> {
    let kernel = kernels::NearestNeighbours::new(build_schema(&n_values, n_classes)?, k, window).map_err(to_python)?;
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds a linear model.
#[pyfunction]
fn linear_model(
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    rule: &str,
    learning_rate: f64,
    l2: f64,
    standardise: bool,
    seed: u64,
) -> PyResult<Learner> {
    let rule = match rule {
        "perceptron" => LinearRule::Perceptron,
        "one_vs_rest" => LinearRule::OneVsRest,
        "softmax" => LinearRule::Softmax,
        _ => {
            return Err(PyValueError::new_err(format!(
                "rule = {rule:?}: it must be perceptron, one_vs_rest or softmax"
            )));
        }
    };
    let options = LinearOptions { rule, learning_rate, l2, standardise };
    let kernel = kernels::LinearModel::new(build_schema(&n_values, n_classes)?, options, seed);
    Ok(Learner::new(Box::new(kernel)))
}

/// Builds a learner some of whose predictions are replaced.
#[pyfunction]
fn noise_filter(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    base: Py<PyAny>,
    base_seed: u64,
    p: f64,
    redraw: bool,
    seed: u64,
) -> PyResult<Learner> {
    let schema = build_schema(&n_values, n_classes)?;
    let base = run_kernel(py, || PythonFactory::new(base).build(&schema, base_seed))?;
    Ok(Learner::new(Box::new(kernels::NoiseFilter::new(base, p, redraw, seed))))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recent_majority, module)?)?;
    module.add_function(wrap_pyfunction!(random_guess, module)?)?;
    module.add_function(wrap_pyfunction!(memoriser, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_neighbours, module)?)?;
    module.add_function(wrap_pyfunction!(linear_model, module)?)?;
    module.add_function(wrap_pyfunction!(noise_filter, module)?)
}
