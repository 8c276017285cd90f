//! What every binding needs: leave Python, do the work, come back with the error mapped.

use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::KernelError;

use crate::composition::take_pending_error;

/// A kernel's error as a Python exception.
pub fn to_python(error: KernelError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Run a kernel without the GIL; what it called in Python may have raised an exception, which goes before its own.
pub fn run_kernel<T: Send>(py: Python<'_>, kernel: impl Send + FnOnce() -> Result<T, KernelError>) -> PyResult<T> {
    let result = py.detach(kernel);
    match take_pending_error() {
        Some(pending) => Err(pending),
        None => result.map_err(to_python),
    }
}

/// A column to be written: what stands in it is arbitrary, since to clear a large one takes as long as to use it.
pub fn allocate_column<T: Element>(py: Python<'_>, n: usize) -> PyResult<Bound<'_, PyArray1<T>>> {
    let empty = py.import("numpy")?.call_method1("empty", (n, T::get_dtype(py)))?;
    Ok(empty.cast_into()?)
}

/// Moves values into a table of the given shape.
pub fn to_table<T: Element>(
    py: Python<'_>,
    what: &'static str,
    values: Vec<T>,
    (n_rows, n_columns): (usize, usize),
) -> PyResult<Py<PyArray2<T>>> {
    let (found, expected) = (values.len(), n_rows * n_columns);
    let table = Array2::from_shape_vec((n_rows, n_columns), values);
    let table = table.map_err(|_| to_python(KernelError::Shape { what, found, expected }))?;
    Ok(table.into_pyarray(py).unbind())
}

/// The values of a C-contiguous table.
pub fn read_table<'a, T: Element>(name: &str, array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err(format!("{name} is not C-contiguous")))
}

/// The values of a contiguous column.
pub fn read_column<'a, T: Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err(format!("{name} is not contiguous")))
}

/// The values of a contiguous column that may be left out.
pub fn read_optional_column<'a, T: Element>(
    name: &str,
    array: Option<&'a PyReadonlyArray1<'_, T>>,
) -> PyResult<Option<&'a [T]>> {
    array.map(|array| read_column(name, array)).transpose()
}
