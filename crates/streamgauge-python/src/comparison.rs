//! The counts that comparisons of learners are made of.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::comparison::PairCounter as Kernel;

use crate::convert::{table, to_python, work};

type Column = Py<PyArray1<i64>>;
type Sums = (u64, Column, Column, Column, f64, bool, Column, Column);

/// Counts, for every pair of learners at once, what their comparison needs.
#[pyclass(module = "streamgauge._native")]
struct PairCounter {
    kernel: Kernel,
}

#[pymethods]
impl PairCounter {
    #[new]
    fn new(n_learners: usize, n_folds: usize) -> PyResult<Self> {
        Ok(Self { kernel: Kernel::new(n_learners, n_folds).map_err(to_python)? })
    }

    /// Count the rows from `start` to before `stop` of a batch.
    #[pyo3(signature = (correct, scored=None, start=0, stop=None))]
    fn update(
        &mut self,
        py: Python<'_>,
        correct: PyReadonlyArray3<'_, bool>,
        scored: Option<PyReadonlyArray2<'_, bool>>,
        start: usize,
        stop: Option<usize>,
    ) -> PyResult<()> {
        let n = correct.shape()[2];
        let right = correct.as_slice().map_err(|_| PyValueError::new_err("correct is not C-contiguous"))?;
        let scored = scored.as_ref().map(|scored| table("scored", scored)).transpose()?;
        let kernel = &mut self.kernel;
        work(py, || kernel.update(right, scored, n, start..stop.unwrap_or(n)))
    }

    /// What is known of the difference of two learners.
    fn sums(&self, py: Python<'_>, first: usize, second: usize) -> PyResult<Sums> {
        let sums = self.kernel.sums(first, second).map_err(to_python)?;
        let column = |counts: Vec<u64>| {
            counts.into_iter().map(|count| count as i64).collect::<Vec<_>>().into_pyarray(py).unbind()
        };
        Ok((
            sums.n_rows,
            column(sums.n_scored),
            column(sums.only_first),
            column(sums.only_second),
            sums.sum_squared_means,
            sums.crossed,
            column(sums.block_scored),
            sums.block_sums.into_pyarray(py).unbind(),
        ))
    }

    /// The bytes it holds.
    #[getter]
    fn n_bytes(&self) -> usize {
        self.kernel.n_bytes()
    }

    /// All of its state.
    fn save(&self, py: Python<'_>) -> Py<PyBytes> {
        PyBytes::new(py, &self.kernel.save()).unbind()
    }

    /// Take over a saved state.
    fn load(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        work(py, || kernel.load(state))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PairCounter>()
}
