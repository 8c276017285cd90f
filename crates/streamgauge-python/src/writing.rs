//! Bindings for writing rows as text.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::writing::{self, WeightStyle};

use crate::convert::{read_column, read_optional_column, read_table, run_kernel};

/// The format of rows as lines of text.
#[pyclass(frozen, module = "streamgauge._native")]
struct Writing(writing::Writing);

#[pymethods]
impl Writing {
    #[new]
    fn new(separator: u8, values: Vec<Option<Vec<Vec<u8>>>>, classes: Vec<Vec<u8>>, weight: &str) -> PyResult<Self> {
        let weight = match weight {
            "none" => WeightStyle::None,
            "braces" => WeightStyle::Braces,
            "column" => WeightStyle::Column,
            _ => return Err(PyValueError::new_err(format!("weight = {weight:?}: it must be none, braces or column"))),
        };
        Ok(Self(writing::Writing { separator, values, classes, weight }))
    }

    fn lines<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        y: PyReadonlyArray1<'py, i32>,
        weight: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (x, y, weight) =
            (read_table("x", &x)?, read_column("y", &y)?, read_optional_column("weight", weight.as_ref())?);
        let text = run_kernel(py, || self.0.lines(x, y, weight))?;
        Ok(PyBytes::new(py, &text))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Writing>()
}
