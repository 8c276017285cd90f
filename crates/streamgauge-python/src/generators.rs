//! Native generators: one Python class holds any of them.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use streamgauge_kernels::KernelError;
use streamgauge_kernels::generators::{
    Generator as Kernel, Hyperplane, HyperplaneOptions, RandomRbf, RandomRbfOptions, Sea,
};

use crate::convert::{to_python, work};

type Rows = (Py<PyArray2<f64>>, Py<PyArray1<i32>>);

/// A stream whose rows are computed from their positions.
#[pyclass(module = "streamgauge._native", frozen)]
struct Generator {
    kernel: Box<dyn Kernel>,
}

impl Generator {
    fn new(kernel: Result<impl Kernel + 'static, KernelError>) -> PyResult<Self> {
        Ok(Self { kernel: Box::new(kernel.map_err(to_python)?) })
    }
}

#[pymethods]
impl Generator {
    /// The values and labels of `n` rows from position `start` on.
    fn rows(&self, py: Python<'_>, start: u64, n: usize) -> PyResult<Rows> {
        let shape = (n, self.kernel.n_attributes());
        let (x, y) = work(py, || {
            let (x, y) = self.kernel.rows(start, n);
            let found = x.len();
            let x = Array2::from_shape_vec(shape, x);
            Ok((x.map_err(|_| KernelError::Shape { what: "x", found, expected: shape.0 * shape.1 })?, y))
        })?;
        Ok((x.into_pyarray(py).unbind(), y.into_pyarray(py).unbind()))
    }
}

/// SEA concepts; `drift_every` 0 means that the first threshold stays.
#[pyfunction]
fn sea(thresholds: Vec<f64>, drift_every: u64, noise: f64, seed: u64) -> PyResult<Generator> {
    Generator::new(Sea::new(&thresholds, drift_every, noise, seed))
}

/// A rotating hyperplane.
#[pyfunction]
fn hyperplane(
    n_attributes: usize,
    n_drifting: usize,
    magnitude: f64,
    reversal: f64,
    noise: f64,
    seed: u64,
) -> PyResult<Generator> {
    Generator::new(Hyperplane::new(HyperplaneOptions { n_attributes, n_drifting, magnitude, reversal, noise }, seed))
}

/// Random radial basis functions whose centres move.
#[pyfunction]
fn random_rbf(
    n_attributes: usize,
    n_classes: usize,
    n_centroids: usize,
    n_drifting: usize,
    speed: f64,
    seed: u64,
) -> PyResult<Generator> {
    let options = RandomRbfOptions { n_attributes, n_classes, n_centroids, n_drifting, speed };
    Generator::new(RandomRbf::new(options, seed))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Generator>()?;
    module.add_function(wrap_pyfunction!(sea, module)?)?;
    module.add_function(wrap_pyfunction!(hyperplane, module)?)?;
    module.add_function(wrap_pyfunction!(random_rbf, module)?)
}
