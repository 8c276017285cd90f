//! The counts behind comparisons of learners.

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::KernelError;
use streamgauge_kernels::comparison::{self, PairCounter as Kernel, TwoWay, VoteBins};

use crate::convert::{read_column, read_table, run_kernel, to_python, to_table};

type Column = Py<PyArray1<i64>>;
type Sums = (u64, Column, Column, Column, f64, bool, Column, Column);
type InterimSums = (u64, Column, Column, Column, usize, Py<PyArray1<f64>>);
type Parts = (f64, f64, f64, f64, f64);
type Areas = (Py<PyArray1<f64>>, Py<PyArray1<f64>>);
type Bins = (Column, Py<PyArray2<f64>>);

/// Counters for the comparison of every pair of learners.
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

    /// Counts the rows from `start` to before `stop` of a batch.
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
        let scored = scored.as_ref().map(|scored| read_table("scored", scored)).transpose()?;
        let kernel = &mut self.kernel;
        run_kernel(py, || kernel.update(right, scored, n, start..stop.unwrap_or(n)))
    }

    /// Returns the counts that describe the difference of two learners.
    fn sums(&self, py: Python<'_>, first: usize, second: usize) -> PyResult<Sums> {
        let sums = self.kernel.sums(first, second).map_err(to_python)?;
        Ok((
            sums.n_rows,
            to_int64(py, sums.n_scored),
            to_int64(py, sums.only_first),
            to_int64(py, sums.only_second),
            sums.sum_squared_means,
            sums.crossed,
            to_int64(py, sums.block_scored),
            sums.block_sums.into_pyarray(py).unbind(),
        ))
    }

    /// Returns the counts of all pairs: rows, rows scored per fold, rows per pair and fold that only the first and only
    /// the second got right, the number of blocks, and the components of the variance of each mean difference.
    fn look(&self, py: Python<'_>) -> InterimSums {
        let look = self.kernel.interim_sums();
        let parts: Vec<f64> = look.two_way.iter().flat_map(|variance| <[f64; 5]>::from(to_tuple(variance))).collect();
        (
            look.n_rows,
            to_int64(py, look.n_scored),
            to_int64(py, look.only_first),
            to_int64(py, look.only_second),
            look.n_blocks,
            parts.into_pyarray(py).unbind(),
        )
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
    fn load(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || kernel.load(state))
    }

    /// Adds the counts of a saved state of other rows.
    fn merge(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || kernel.merge(state))
    }
}

fn to_int64(py: Python<'_>, counts: Vec<u64>) -> Column {
    counts.into_iter().map(|count| count as i64).collect::<Vec<_>>().into_pyarray(py).unbind()
}

fn to_tuple(variance: &TwoWay) -> Parts {
    (variance.difference, variance.folds, variance.rows, variance.both, variance.blocked)
}

/// Returns the mean difference over folds and rows, and the components of its variance: of folds, of rows, of both, of
/// blocks.
#[pyfunction]
fn two_way(
    n_rows: u64,
    sums: PyReadonlyArray1<'_, i64>,
    discordant: u64,
    squares: u64,
    block_scored: PyReadonlyArray1<'_, i64>,
    block_sums: PyReadonlyArray1<'_, i64>,
) -> Parts {
    let scored = block_scored.as_array();
    let blocks: Vec<(u64, i64)> =
        scored.iter().map(|&scored| scored.unsigned_abs()).zip(block_sums.as_array().iter().copied()).collect();
    let sums = sums.as_array().to_vec();
    to_tuple(&comparison::two_way(n_rows, &sums, discordant, squares, &blocks))
}

/// The bins of each part, and the weights in them.
type VoteParts<'py> = Vec<(PyReadonlyArray1<'py, i64>, PyReadonlyArray2<'py, f64>)>;

/// A kernel that returns common bins, and weights of each part in them.
type Align = fn(&[VoteBins<'_>], usize) -> Result<(Vec<i64>, Vec<f64>), KernelError>;

fn run_align(py: Python<'_>, parts: &VoteParts<'_>, align: Align) -> PyResult<Bins> {
    let n_rows = parts.first().map_or(0, |(_, weights)| weights.shape()[0]);
    let parts = parts
        .iter()
        .map(|(bins, weights)| {
            Ok(VoteBins { bins: read_column("bins", bins)?, weights: read_table("weights", weights)? })
        })
        .collect::<PyResult<Vec<_>>>()?;
    let (bins, aligned) = run_kernel(py, || align(&parts, n_rows))?;
    let shape = (n_rows, parts.len() * bins.len());
    Ok((bins.into_pyarray(py).unbind(), to_table(py, "aligned", aligned, shape)?))
}

/// Returns the bins that several parts have in common, each the widest of a part, and the votes in them,
/// [rows, parts * bins]: each part has its bins in ascending order [m], and weights [rows, m].
#[pyfunction]
fn align_votes(py: Python<'_>, parts: VoteParts<'_>) -> PyResult<Bins> {
    run_align(py, &parts, comparison::align_votes)
}

/// Returns the bins of `align_votes`, and by how much the votes of each part exceed those of the one before.
#[pyfunction]
fn split_votes(py: Python<'_>, parts: VoteParts<'_>) -> PyResult<Bins> {
    run_align(py, &parts, comparison::split_votes)
}

/// A kernel that returns areas of rows of bins.
type Rank = fn(&[f64], &[f64], usize) -> Result<(Vec<f64>, Vec<f64>), KernelError>;

fn run_rank(
    py: Python<'_>,
    of_class: &PyReadonlyArray2<'_, f64>,
    of_others: &PyReadonlyArray2<'_, f64>,
    rank: Rank,
) -> PyResult<Areas> {
    let n_bins = of_class.shape()[1];
    let (of_class, of_others) = (read_table("of_class", of_class)?, read_table("of_others", of_others)?);
    let (roc, precision) = run_kernel(py, || rank(of_class, of_others, n_bins))?;
    Ok((roc.into_pyarray(py).unbind(), precision.into_pyarray(py).unbind()))
}

/// Returns the areas under ROC curves and the average precisions of rows of bins, [rows] each: the weights of the rows of
/// a class and of others by their votes for it, in ascending order, are [rows, bins] each.
#[pyfunction]
fn rank_votes(
    py: Python<'_>,
    of_class: PyReadonlyArray2<'_, f64>,
    of_others: PyReadonlyArray2<'_, f64>,
) -> PyResult<Areas> {
    run_rank(py, &of_class, &of_others, comparison::rank_votes)
}

/// Returns the areas of `rank_votes` of all rows of bins together, and then without each of them, [1 + rows] each.
#[pyfunction]
fn rank_without_each(
    py: Python<'_>,
    of_class: PyReadonlyArray2<'_, f64>,
    of_others: PyReadonlyArray2<'_, f64>,
) -> PyResult<Areas> {
    run_rank(py, &of_class, &of_others, comparison::rank_without_each)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PairCounter>()?;
    module.add_function(wrap_pyfunction!(align_votes, module)?)?;
    module.add_function(wrap_pyfunction!(rank_votes, module)?)?;
    module.add_function(wrap_pyfunction!(rank_without_each, module)?)?;
    module.add_function(wrap_pyfunction!(split_votes, module)?)?;
    module.add_function(wrap_pyfunction!(two_way, module)?)
}
