//! The thread budget of a run.

use std::sync::Arc;

use pyo3::prelude::*;
use streamgauge_kernels::threads as kernels;

/// The threads that cells, and the ensembles in them, may use at the same time.
#[pyclass(frozen, module = "streamgauge._native")]
struct ThreadBudget {
    budget: Arc<kernels::ThreadBudget>,
}

#[pymethods]
impl ThreadBudget {
    #[new]
    fn new(n_threads: usize, timed: bool) -> Self {
        Self { budget: Arc::new(kernels::ThreadBudget::new(n_threads, timed)) }
    }

    /// Makes it the budget of the calling thread.
    fn enter(&self) {
        kernels::set_budget(Some(self.budget.clone()));
    }

    /// Counts tasks that are about to run.
    fn begin_tasks(&self, n: usize) {
        self.budget.begin_tasks(n);
    }

    /// Counts the end of a task.
    fn end_task(&self) {
        self.budget.end_task();
    }
}

/// Returns the nanoseconds of CPU time that other threads have worked for the calling one, if they are timed.
#[pyfunction]
fn helped_nanoseconds() -> u64 {
    kernels::helped_nanoseconds()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ThreadBudget>()?;
    module.add_function(wrap_pyfunction!(helped_nanoseconds, module)?)
}
