//! Bindings of forgetting: one Python class holds the state of any kind.

use numpy::ndarray::{ArrayBase, Dimension, OwnedRepr, ShapeBuilder, ShapeError, StrideShape};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArray4, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::adaptive_window::Settings;
use streamgauge_kernels::forgetting::{
    self as kernels, AmountColumns, Columns, Forgetting as Kernel, Layout, Outcomes, Statistics,
};

use crate::convert::{read_column, read_optional_column, read_table, run_kernel, to_python, to_table};

type Tallies = (
    Py<PyArray3<f64>>,
    Py<PyArray2<f64>>,
    Py<PyArray3<f64>>,
    Py<PyArray1<u64>>,
    Py<PyArray2<f64>>,
    Option<Py<PyArray4<f64>>>,
);

type ClassBins = (Py<PyArray1<i64>>, Py<PyArray2<f64>>);
type AmountSums = (Py<PyArray2<f64>>, Py<PyArray1<u64>>);

/// The state of a forgetting in native code.
#[pyclass(module = "streamgauge._native")]
struct Forgetting {
    kernel: Box<dyn Kernel>,
}

#[pymethods]
impl Forgetting {
    /// Adds rows; returns the tallies after each of the ascending reading rows: confusion [s, c, c], abstained [s, c],
    /// hits of the majority class and of no change by true class [s, 2, c], widths [s], the sums of the requested
    /// statistics [s, n], and areas under ROC curves, their margins, average precisions and their margins [s, 4, c, c].
    #[pyo3(signature = (y_true, y_pred, majority_hit, no_change_hit, weight, reading_rows, votes = None, time = None))]
    fn update(
        &mut self,
        py: Python<'_>,
        y_true: PyReadonlyArray1<'_, i32>,
        y_pred: PyReadonlyArray1<'_, i32>,
        majority_hit: PyReadonlyArray1<'_, bool>,
        no_change_hit: PyReadonlyArray1<'_, bool>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        reading_rows: PyReadonlyArray1<'_, i64>,
        votes: Option<PyReadonlyArray2<'_, f64>>,
        time: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Tallies> {
        let columns = Columns {
            y_true: read_column("y_true", &y_true)?,
            y_pred: read_column("y_pred", &y_pred)?,
            majority_hit: read_column("majority_hit", &majority_hit)?,
            no_change_hit: read_column("no_change_hit", &no_change_hit)?,
            weight: read_optional_column("weight", weight.as_ref())?,
            votes: votes.as_ref().map(|votes| read_table("votes", votes)).transpose()?,
            time: read_optional_column("time", time.as_ref())?,
        };
        let reading_rows = read_rows(&reading_rows)?;
        let kernel = &mut self.kernel;
        let tallies = run_kernel(py, || kernel.update(&columns, &reading_rows))?;
        self.to_arrays(py, reading_rows.len(), tallies)
    }

    /// Adds rows as [`Forgetting::update`] does; also returns the used bins of votes, as [`Forgetting::vote_bins`] does,
    /// at the reading rows that are `binned`. Areas are NaN at those that are not `ranked`.
    #[pyo3(signature = (y_true, y_pred, majority_hit, no_change_hit, weight, reading_rows, votes, ranked, binned, max_bins))]
    fn update_with_bins(
        &mut self,
        py: Python<'_>,
        y_true: PyReadonlyArray1<'_, i32>,
        y_pred: PyReadonlyArray1<'_, i32>,
        majority_hit: PyReadonlyArray1<'_, bool>,
        no_change_hit: PyReadonlyArray1<'_, bool>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        reading_rows: PyReadonlyArray1<'_, i64>,
        votes: PyReadonlyArray2<'_, f64>,
        ranked: PyReadonlyArray1<'_, bool>,
        binned: PyReadonlyArray1<'_, bool>,
        max_bins: usize,
    ) -> PyResult<(Tallies, Vec<Vec<ClassBins>>)> {
        let columns = Columns {
            y_true: read_column("y_true", &y_true)?,
            y_pred: read_column("y_pred", &y_pred)?,
            majority_hit: read_column("majority_hit", &majority_hit)?,
            no_change_hit: read_column("no_change_hit", &no_change_hit)?,
            weight: read_optional_column("weight", weight.as_ref())?,
            votes: Some(read_table("votes", &votes)?),
            time: None,
        };
        let reading_rows = read_rows(&reading_rows)?;
        let request = kernels::BinRequest {
            ranked: read_column("ranked", &ranked)?,
            binned: read_column("binned", &binned)?,
            max_bins,
        };
        let kernel = &mut self.kernel;
        let (tallies, bins) = run_kernel(py, || kernel.update_with_bins(&columns, &reading_rows, Some(&request)))?;
        let bins = bins.into_iter().map(|classes| bins_to_arrays(py, classes)).collect::<PyResult<_>>()?;
        Ok((self.to_arrays(py, reading_rows.len(), tallies)?, bins))
    }

    /// Adds rows with amounts [k, n] in place of classes; returns the weight and the weighted sum of each amount after each
    /// of the ascending reading rows [s, 1 + k], and the numbers of rows that they cover [s].
    #[pyo3(signature = (amounts, weight, reading_rows, losses = None, time = None))]
    fn update_amounts(
        &mut self,
        py: Python<'_>,
        amounts: PyReadonlyArray2<'_, f64>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        reading_rows: PyReadonlyArray1<'_, i64>,
        losses: Option<PyReadonlyArray1<'_, f64>>,
        time: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<AmountSums> {
        let columns = AmountColumns {
            amounts: read_table("amounts", &amounts)?,
            n: amounts.as_array().ncols(),
            weight: read_optional_column("weight", weight.as_ref())?,
            losses: read_optional_column("losses", losses.as_ref())?,
            time: read_optional_column("time", time.as_ref())?,
        };
        let reading_rows = read_rows(&reading_rows)?;
        let kernel = &mut self.kernel;
        let sums = run_kernel(py, || kernel.update_amounts(&columns, &reading_rows))?;
        let shape = (reading_rows.len(), self.kernel.layout().n_codes());
        Ok((to_table(py, "sums", sums.sums, shape)?, sums.widths.into_pyarray(py).unbind()))
    }

    /// Returns for each class voted for at most `max_bins` used bins of votes in ascending order [m], and their weights of
    /// rows of the class and of other classes [2, m].
    fn vote_bins(&self, py: Python<'_>, max_bins: usize) -> PyResult<Vec<ClassBins>> {
        let kernel = &self.kernel;
        let classes = run_kernel(py, || kernel.vote_bins(max_bins))?;
        bins_to_arrays(py, classes)
    }

    /// Returns the memory it uses in bytes.
    #[getter]
    fn n_bytes(&self) -> usize {
        self.kernel.n_bytes()
    }

    /// Saves the state.
    fn save(&self, py: Python<'_>) -> Py<PyBytes> {
        PyBytes::new(py, &py.detach(|| self.kernel.save())).unbind()
    }

    /// Restores a saved state.
    fn load(&mut self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || kernel.load(state))
    }

    /// Adds the rows of a saved state of other classes; `classes` are their numbers here.
    fn merge(&mut self, py: Python<'_>, state: &[u8], classes: Vec<u32>) -> PyResult<()> {
        let kernel = &mut self.kernel;
        run_kernel(py, || kernel.merge(state, &classes))
    }
}

impl Forgetting {
    fn to_arrays(&self, py: Python<'_>, s: usize, tallies: kernels::Tallies) -> PyResult<Tallies> {
        let (c, statistics) = (tallies.n_classes, self.kernel.layout().statistics());
        let ranks = statistics.ranks.then(|| reshape((s, 4, c, c), tallies.ranks)).transpose()?;
        Ok((
            reshape((s, c, c), tallies.confusion)?.into_pyarray(py).unbind(),
            reshape((s, c), tallies.abstained)?.into_pyarray(py).unbind(),
            reshape((s, 2, c), tallies.hits)?.into_pyarray(py).unbind(),
            tallies.widths.into_pyarray(py).unbind(),
            reshape((s, statistics.n_sums()), tallies.sums)?.into_pyarray(py).unbind(),
            ranks.map(|ranks| ranks.into_pyarray(py).unbind()),
        ))
    }
}

fn bins_to_arrays(py: Python<'_>, classes: Vec<kernels::UsedBins>) -> PyResult<Vec<ClassBins>> {
    let to_arrays = |mut used: kernels::UsedBins| {
        let m = used.bins.len();
        used.own.append(&mut used.others);
        let weights = to_table(py, "weights", used.own, (2, m))?;
        Ok((used.bins.into_pyarray(py).unbind(), weights))
    };
    classes.into_iter().map(to_arrays).collect()
}

/// Reads reading rows; a negative one becomes one far beyond the end, which the kernel refuses.
fn read_rows(rows: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    Ok(read_column("reading_rows", rows)?.iter().map(|&row| row as usize).collect())
}

fn reshape<D: Dimension>(
    shape: impl ShapeBuilder<Dim = D> + Into<StrideShape<D>>,
    values: Vec<f64>,
) -> PyResult<ArrayBase<OwnedRepr<f64>, D>> {
    ArrayBase::from_shape_vec(shape, values).map_err(|error: ShapeError| PyValueError::new_err(error.to_string()))
}

/// Builds the layout of rows with classes; without classes, that of rows with an amount for each statistic.
fn build_layout(n_classes: usize, statistics: &[String], stores_rows: bool) -> PyResult<Layout> {
    if n_classes == 0 {
        return Layout::of_amounts(statistics.len()).map_err(to_python);
    }
    let outcomes = Outcomes::new(n_classes).map_err(to_python)?;
    let statistics = Statistics::from_names(statistics.iter().map(String::as_str)).map_err(to_python)?;
    Layout::new(outcomes, statistics, stores_rows).map_err(to_python)
}

fn wrap(kernel: impl Kernel + 'static) -> Forgetting {
    Forgetting { kernel: Box::new(kernel) }
}

/// Builds counts over all rows.
#[pyfunction]
#[pyo3(signature = (n_classes, statistics = vec![]))]
fn landmark(n_classes: usize, statistics: Vec<String>) -> PyResult<Forgetting> {
    Ok(wrap(kernels::Landmark::new(build_layout(n_classes, &statistics, false)?)))
}

/// Builds a sliding window of the last `width` rows.
#[pyfunction]
#[pyo3(signature = (n_classes, width, statistics = vec![]))]
fn window(n_classes: usize, width: usize, statistics: Vec<String>) -> PyResult<Forgetting> {
    kernels::Window::new(build_layout(n_classes, &statistics, true)?, width).map(wrap).map_err(to_python)
}

/// Builds a sliding window of the last `seconds`.
#[pyfunction]
#[pyo3(signature = (n_classes, seconds, statistics = vec![]))]
fn time_window(n_classes: usize, seconds: f64, statistics: Vec<String>) -> PyResult<Forgetting> {
    Ok(wrap(kernels::TimeWindow::new(build_layout(n_classes, &statistics, true)?, seconds)))
}

/// Builds consecutive windows of `width` rows.
#[pyfunction]
#[pyo3(signature = (n_classes, width, statistics = vec![]))]
fn tumbling(n_classes: usize, width: u64, statistics: Vec<String>) -> PyResult<Forgetting> {
    kernels::Tumbling::new(build_layout(n_classes, &statistics, true)?, width).map(wrap).map_err(to_python)
}

/// Builds exponential fading.
#[pyfunction]
#[pyo3(signature = (n_classes, factor, statistics = vec![]))]
fn fading(n_classes: usize, factor: f64, statistics: Vec<String>) -> PyResult<Forgetting> {
    Ok(wrap(kernels::Fading::new(build_layout(n_classes, &statistics, false)?, factor)))
}

/// Builds an adaptive window on the errors.
#[pyfunction]
#[pyo3(signature = (n_classes, delta, clock, max_buckets, min_window_length, grace_period, statistics = vec![]))]
fn adwin(
    n_classes: usize,
    delta: f64,
    clock: u64,
    max_buckets: usize,
    min_window_length: u64,
    grace_period: u64,
    statistics: Vec<String>,
) -> PyResult<Forgetting> {
    let settings = Settings { delta, clock, max_buckets, min_window_length, grace_period };
    kernels::Adwin::new(build_layout(n_classes, &statistics, false)?, settings).map(wrap).map_err(to_python)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Forgetting>()?;
    module.add_function(wrap_pyfunction!(landmark, module)?)?;
    module.add_function(wrap_pyfunction!(window, module)?)?;
    module.add_function(wrap_pyfunction!(time_window, module)?)?;
    module.add_function(wrap_pyfunction!(tumbling, module)?)?;
    module.add_function(wrap_pyfunction!(fading, module)?)?;
    module.add_function(wrap_pyfunction!(adwin, module)?)
}
