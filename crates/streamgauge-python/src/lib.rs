//! The Python binding of the streamgauge kernels (`streamgauge._native._compiled`).
//!
//! Each file binds one module of the kernels. It only converts: columns in, columns out, with the GIL released while
//! the kernel runs and every [`KernelError`](streamgauge_kernels::KernelError) raised as a `ValueError`.

use pyo3::prelude::*;

mod baselines;
mod comparison;
mod composition;
mod convert;
mod detectors;
mod dispatch;
mod encoder;
mod ensembles;
mod events;
mod forests;
mod forgetting;
mod generators;
mod learners;
mod randomness;
mod regressors;
mod sampling;
mod single_learners;
mod text;
mod threads;
mod trees;
mod writing;

/// Returns the native kernels of streamgauge.
#[pymodule(gil_used = false)]
fn _compiled(module: &Bound<'_, PyModule>) -> PyResult<()> {
    baselines::register(module)?;
    comparison::register(module)?;
    detectors::register(module)?;
    dispatch::register(module)?;
    encoder::register(module)?;
    ensembles::register(module)?;
    events::register(module)?;
    generators::register(module)?;
    forests::register(module)?;
    forgetting::register(module)?;
    learners::register(module)?;
    randomness::register(module)?;
    regressors::register(module)?;
    sampling::register(module)?;
    single_learners::register(module)?;
    text::register(module)?;
    threads::register(module)?;
    trees::register(module)?;
    writing::register(module)
}
