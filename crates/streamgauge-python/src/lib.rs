//! The compiled half of streamgauge, as Python sees it (`streamgauge._native._compiled`).
//!
//! Each file binds one module of the kernels. It only converts: columns in, columns out, the GIL released while the
//! kernel works, every [`KernelError`](streamgauge_kernels::KernelError) a `ValueError`.

use pyo3::prelude::*;

mod baselines;
mod comparison;
mod composition;
mod convert;
mod detectors;
mod dispatch;
mod ensembles;
mod events;
mod forests;
mod forgetting;
mod generators;
mod learners;
mod randomness;
mod sampling;
mod single_learners;
mod text;
mod trees;
mod writing;

/// The native kernels of streamgauge.
#[pymodule(gil_used = false)]
fn _compiled(module: &Bound<'_, PyModule>) -> PyResult<()> {
    baselines::register(module)?;
    comparison::register(module)?;
    detectors::register(module)?;
    dispatch::register(module)?;
    ensembles::register(module)?;
    events::register(module)?;
    generators::register(module)?;
    forests::register(module)?;
    forgetting::register(module)?;
    learners::register(module)?;
    randomness::register(module)?;
    sampling::register(module)?;
    single_learners::register(module)?;
    text::register(module)?;
    trees::register(module)?;
    writing::register(module)
}
