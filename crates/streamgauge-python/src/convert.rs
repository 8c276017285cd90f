//! Helpers of all bindings: conversion of arrays and errors, and release of the GIL.

use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::KernelError;

use crate::composition::take_pending_error;

/// Converts an error of a kernel to a Python exception.
pub fn to_python(error: KernelError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Runs a kernel without the GIL; an exception raised by a callback into Python takes precedence over its error.
pub fn run_kernel<T: Send>(py: Python<'_>, kernel: impl Send + FnOnce() -> Result<T, KernelError>) -> PyResult<T> {
    let result = py.detach(kernel);
    match take_pending_error() {
        Some(pending) => Err(pending),
        None => result.map_err(to_python),
    }
}

/// Allocates a column without clearing it, since clearing a large one takes as long as filling it.
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

/// Returns the values of a C-contiguous table.
pub fn read_table<'a, T: Element>(name: &str, array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err(format!("{name} is not C-contiguous")))
}

/// Returns the values of a contiguous column.
pub fn read_column<'a, T: Element>(name: &str, array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err(format!("{name} is not contiguous")))
}

/// Returns the values of an optional contiguous column.
pub fn read_optional_column<'a, T: Element>(
    name: &str,
    array: Option<&'a PyReadonlyArray1<'_, T>>,
) -> PyResult<Option<&'a [T]>> {
    array.map(|array| read_column(name, array)).transpose()
}
