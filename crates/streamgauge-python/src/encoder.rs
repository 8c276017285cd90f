//! Binding of the encoder of rows.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::learners::{Encoder as Kernel, EncoderOptions, NominalEncoding};

use crate::convert::{read_column, read_optional_column, read_table, run_kernel, to_python, to_table};

type Rows = Py<PyArray2<f64>>;

/// Encodes rows as plain numbers by the statistics of the rows learnt so far.
#[pyclass(module = "streamgauge._native")]
struct Encoder {
    kernel: Kernel,
}

#[pymethods]
impl Encoder {
    #[new]
    fn new(
        n_values: PyReadonlyArray1<'_, u32>,
        nominal: &str,
        names: Vec<String>,
        n_buckets: u32,
        impute: bool,
        standardise: bool,
        indicated: Vec<bool>,
    ) -> PyResult<Self> {
        let nominal = match nominal {
            "codes" => NominalEncoding::Codes,
            "one_hot" => NominalEncoding::OneHot,
            "hash" => NominalEncoding::Hashed { n_buckets, names },
            _ => {
                return Err(PyValueError::new_err(format!("nominal = {nominal:?}: it must be codes, one_hot or hash")));
            }
        };
        let options = EncoderOptions { nominal, impute, standardise, indicated };
        Ok(Self { kernel: Kernel::new(read_column("n_values", &n_values)?, &options).map_err(to_python)? })
    }

    /// Returns the number of columns of an encoded row.
    #[getter]
    fn n_columns(&self) -> usize {
        self.kernel.n_columns()
    }

    /// Encodes rows by what has been learnt.
    fn encode(&self, py: Python<'_>, x: PyReadonlyArray2<'_, f64>) -> PyResult<Rows> {
        let (rows, n) = (read_table("x", &x)?, x.as_array().nrows());
        let kernel = &self.kernel;
        let encoded = run_kernel(py, || kernel.encode(rows, n))?;
        to_table(py, "x", encoded, (n, kernel.n_columns()))
    }

    /// Encodes each row by what was learnt before it, then learns it.
    fn learn(
        &mut self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, i32>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        unlabelled: bool,
    ) -> PyResult<Rows> {
        let (rows, labels) = (read_table("x", &x)?, read_column("y", &y)?);
        let weight = read_optional_column("weight", weight.as_ref())?;
        let kernel = &mut self.kernel;
        let encoded = run_kernel(py, || kernel.learn(rows, labels, weight, unlabelled))?;
        to_table(py, "x", encoded, (labels.len(), self.kernel.n_columns()))
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
    fn load(&mut self, state: &[u8]) -> PyResult<()> {
        self.kernel.load(state).map_err(to_python)
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Encoder>()
}
