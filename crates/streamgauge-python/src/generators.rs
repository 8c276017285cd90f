//! Bindings of the generators: one Python class holds any of them.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use streamgauge_kernels::KernelError;
use streamgauge_kernels::generators::{
    Agrawal, AssetNegotiation, Classification, ClassificationOptions, Generator as Kernel, Hyperplane,
    HyperplaneOptions, Led, Mixed, PokerHand, RandomRbf, RandomRbfOptions, RandomTree, RandomTreeOptions, Sea, Sine,
    Source, Stagger, Waveform,
};

use crate::convert::{run_kernel, to_python, to_table};

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
    /// Returns the values and labels of `n` rows from position `start` on.
    fn rows(&self, py: Python<'_>, start: u64, n: usize) -> PyResult<Rows> {
        let (x, y) = run_kernel(py, || Ok(self.kernel.rows(start, n)))?;
        Ok((to_table(py, "x", x, (n, self.kernel.n_attributes()))?, y.into_pyarray(py).unbind()))
    }
}

/// Builds SEA concepts; with `drift_every` 0 the first threshold stays.
#[pyfunction]
fn sea(thresholds: Vec<f64>, drift_every: u64, noise: f64, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Sea::new(&thresholds, drift_every, noise, Source { seed, sample }))
}

/// Builds a rotating hyperplane.
#[pyfunction]
fn hyperplane(
    n_attributes: usize,
    n_drifting: usize,
    magnitude: f64,
    reversal: f64,
    noise: f64,
    seed: u64,
    sample: u64,
) -> PyResult<Generator> {
    let options = HyperplaneOptions { n_attributes, n_drifting, magnitude, reversal, noise };
    Generator::new(Hyperplane::new(options, Source { seed, sample }))
}

/// Builds random radial basis functions whose centres move.
#[pyfunction]
fn random_rbf(
    n_attributes: usize,
    n_classes: usize,
    n_centroids: usize,
    n_drifting: usize,
    speed: f64,
    seed: u64,
    sample: u64,
) -> PyResult<Generator> {
    let options = RandomRbfOptions { n_attributes, n_classes, n_centroids, n_drifting, speed };
    Generator::new(RandomRbf::new(options, Source { seed, sample }))
}

/// Builds the digits of a seven-segment display.
#[pyfunction]
fn led(n_drifting: usize, noise: f64, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Led::new(n_drifting, noise, Source { seed, sample }))
}

/// Builds waveforms of 21 attributes, or of 40.
#[pyfunction]
fn waveform(with_irrelevant: bool, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Ok(Waveform::new(with_irrelevant, Source { seed, sample })))
}

/// Builds loan applications.
#[pyfunction]
fn agrawal(concept: usize, perturbation: f64, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Ok(Agrawal::new(concept, perturbation, Source { seed, sample })))
}

/// Builds STAGGER concepts.
#[pyfunction]
fn stagger(concept: usize, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Ok(Stagger::new(concept, Source { seed, sample })))
}

/// Builds points below and above a sine curve.
#[pyfunction]
fn sine(concept: usize, n_irrelevant: usize, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Ok(Sine::new(concept, n_irrelevant, Source { seed, sample })))
}

/// Builds rows of two truth values and two numbers.
#[pyfunction]
fn mixed(concept: usize, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Ok(Mixed::new(concept, Source { seed, sample })))
}

/// Builds a random tree.
#[pyfunction]
fn random_tree(
    n_nominal: usize,
    n_numeric: usize,
    n_values: usize,
    n_classes: usize,
    max_depth: usize,
    first_leaf_depth: usize,
    leaf_fraction: f64,
    seed: u64,
    sample: u64,
) -> PyResult<Generator> {
    let options =
        RandomTreeOptions { n_nominal, n_numeric, n_values, n_classes, max_depth, first_leaf_depth, leaf_fraction };
    Generator::new(RandomTree::new(options, Source { seed, sample }))
}

/// Builds negotiations about an asset.
#[pyfunction]
fn asset_negotiation(concept: usize, noise: f64, seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(AssetNegotiation::new(concept, noise, Source { seed, sample }))
}

/// Builds poker hands.
#[pyfunction]
fn poker_hand(seed: u64, sample: u64) -> PyResult<Generator> {
    Generator::new(Ok(PokerHand::new(Source { seed, sample })))
}

/// Builds clusters at the corners of a cube.
#[pyfunction]
fn classification(
    concept: u64,
    n_attributes: usize,
    n_informative: usize,
    n_redundant: usize,
    n_clusters: usize,
    separation: f64,
    shares: Vec<f64>,
    noise: f64,
    seed: u64,
    sample: u64,
) -> PyResult<Generator> {
    let options = ClassificationOptions {
        concept,
        n_attributes,
        n_informative,
        n_redundant,
        n_clusters,
        separation,
        shares,
        noise,
    };
    Generator::new(Classification::new(options, Source { seed, sample }))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Generator>()?;
    module.add_function(wrap_pyfunction!(agrawal, module)?)?;
    module.add_function(wrap_pyfunction!(asset_negotiation, module)?)?;
    module.add_function(wrap_pyfunction!(classification, module)?)?;
    module.add_function(wrap_pyfunction!(hyperplane, module)?)?;
    module.add_function(wrap_pyfunction!(led, module)?)?;
    module.add_function(wrap_pyfunction!(mixed, module)?)?;
    module.add_function(wrap_pyfunction!(poker_hand, module)?)?;
    module.add_function(wrap_pyfunction!(random_rbf, module)?)?;
    module.add_function(wrap_pyfunction!(random_tree, module)?)?;
    module.add_function(wrap_pyfunction!(sea, module)?)?;
    module.add_function(wrap_pyfunction!(sine, module)?)?;
    module.add_function(wrap_pyfunction!(stagger, module)?)?;
    module.add_function(wrap_pyfunction!(waveform, module)?)
}
