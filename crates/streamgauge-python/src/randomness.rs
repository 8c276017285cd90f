//! Bindings of addressed randomness, a column of consecutive rows at a time.

use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;
use streamgauge_kernels::randomness::{self, Draws, Poisson, Purpose};

use crate::convert::run_kernel;

/// Computes a value from the draw of each of `n` rows from `start` on.
fn map_rows<T: Element>(
    py: Python<'_>,
    (seed, purpose, fold): (u64, &str, u64),
    (start, n): (u64, usize),
    value: impl Sync + Fn(Draws, u64) -> T,
) -> Py<PyArray1<T>> {
    let draws = Draws::new(seed, Purpose::named(purpose), fold);
    let values: Vec<T> = py.detach(|| (start..).take(n).map(|row| value(draws, row)).collect());
    values.into_pyarray(py).unbind()
}

/// Returns the draws of `n` rows from `start` on.
#[pyfunction]
fn draw(py: Python<'_>, seed: u64, purpose: &str, fold: u64, start: u64, n: usize) -> Py<PyArray1<u64>> {
    map_rows(py, (seed, purpose, fold), (start, n), Draws::at)
}

/// Returns uniform numbers in [0, 1) for `n` rows from `start` on.
#[pyfunction]
fn uniform(py: Python<'_>, seed: u64, purpose: &str, fold: u64, start: u64, n: usize) -> Py<PyArray1<f64>> {
    map_rows(py, (seed, purpose, fold), (start, n), Draws::uniform)
}

/// Returns whole numbers in `0..limit` for `n` rows from `start` on.
#[pyfunction]
fn below(py: Python<'_>, seed: u64, purpose: &str, fold: u64, start: u64, n: usize, limit: u64) -> Py<PyArray1<i64>> {
    map_rows(py, (seed, purpose, fold), (start, n), |draws, row| draws.below(row, limit) as i64)
}

/// Returns Poisson(1) weights for `n` rows from `start` on.
#[pyfunction]
fn poisson(py: Python<'_>, seed: u64, purpose: &str, fold: u64, start: u64, n: usize) -> PyResult<Py<PyArray1<f64>>> {
    let draws = Draws::new(seed, Purpose::named(purpose), fold);
    let values = run_kernel(py, || {
        let mut values = vec![0.0; n];
        Poisson::new(1.0)?.fill(draws, start, &mut values);
        Ok(values)
    })?;
    Ok(values.into_pyarray(py).unbind())
}

/// Returns the seed of a learner in a fold.
#[pyfunction]
fn fold_seed(master: u64, fold: u64, learner_seed: u64) -> u64 {
    randomness::fold_seed(master, fold, learner_seed)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(draw, module)?)?;
    module.add_function(wrap_pyfunction!(uniform, module)?)?;
    module.add_function(wrap_pyfunction!(below, module)?)?;
    module.add_function(wrap_pyfunction!(poisson, module)?)?;
    module.add_function(wrap_pyfunction!(fold_seed, module)?)
}
