//! Learners of one piece (linear models, neighbours, guesses, what is known by heart) and a filter round any learner.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::learners::{self as kernels, Factory, LinearOptions, LinearRule};

use crate::composition::PythonFactory;
use crate::convert::{to_python, work};
use crate::learners::{Learner, schema};

/// A learner that predicts the class seen most often among the rows learnt last.
#[pyfunction]
fn recent_majority(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize, window: usize) -> PyResult<Learner> {
    let kernel = kernels::RecentMajority::new(schema(&n_values, n_classes)?, window).map_err(to_python)?;
    Ok(Learner::new(Box::new(kernel)))
}

/// A learner that guesses with the frequencies seen so far.
#[pyfunction]
fn random_guess(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize, seed: u64) -> PyResult<Learner> {
    Ok(Learner::new(Box::new(kernels::RandomGuess::new(schema(&n_values, n_classes)?, seed))))
}

/// A learner that knows by heart.
#[pyfunction]
fn memoriser(n_values: PyReadonlyArray1<'_, u32>, n_classes: usize, seed: u64) -> PyResult<Learner> {
    Ok(Learner::new(Box::new(kernels::Memoriser::new(schema(&n_values, n_classes)?, seed))))
}

/// The nearest of the rows learnt last.
#[pyfunction]
fn nearest_neighbours(
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    k: usize,
    window: usize,
) -> PyResult<Learner> {
    let kernel = kernels::NearestNeighbours::new(schema(&n_values, n_classes)?, k, window).map_err(to_python)?;
    Ok(Learner::new(Box::new(kernel)))
}

/// A linear model.
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
        _ => return Err(PyValueError::new_err(format!("{rule:?} is not a rule of a linear model known here"))),
    };
    let options = LinearOptions { rule, learning_rate, l2, standardise };
    let kernel = kernels::LinearModel::new(schema(&n_values, n_classes)?, options, seed);
    Ok(Learner::new(Box::new(kernel)))
}

/// A learner some of whose predictions are switched.
#[pyfunction]
fn noise_filter(
    py: Python<'_>,
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    base: Py<PyAny>,
    base_seed: u64,
    p: f64,
    seed: u64,
) -> PyResult<Learner> {
    let schema = schema(&n_values, n_classes)?;
    let base = work(py, || PythonFactory::new(base).build(&schema, base_seed))?;
    Ok(Learner::new(Box::new(kernels::NoiseFilter::new(base, p, seed))))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recent_majority, module)?)?;
    module.add_function(wrap_pyfunction!(random_guess, module)?)?;
    module.add_function(wrap_pyfunction!(memoriser, module)?)?;
    module.add_function(wrap_pyfunction!(nearest_neighbours, module)?)?;
    module.add_function(wrap_pyfunction!(linear_model, module)?)?;
    module.add_function(wrap_pyfunction!(noise_filter, module)?)
}
