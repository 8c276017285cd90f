//! Selection of the instruction set of the kernels.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::dispatch::{self, Path};

fn name(path: Path) -> &'static str {
    match path {
        Path::Baseline => "baseline",
        Path::Avx2 => "avx2",
        Path::Avx512 => "avx512",
    }
}

/// Returns the instruction sets that this machine supports, slowest first.
#[pyfunction]
fn instruction_sets() -> Vec<&'static str> {
    dispatch::available_paths().into_iter().map(name).collect()
}

/// Returns the instruction set that the kernels use.
#[pyfunction]
fn instruction_set() -> &'static str {
    name(dispatch::selected_path())
}

/// Selects another instruction set for the kernels, for tests and benchmarks.
#[pyfunction]
fn use_instruction_set(name: &str) -> PyResult<()> {
    let path = match name {
        "baseline" => Path::Baseline,
        "avx2" => Path::Avx2,
        "avx512" => Path::Avx512,
        _ => {
            return Err(PyValueError::new_err(format!(
                "unknown instruction set {name:?}: it must be baseline, avx2 or avx512"
            )));
        }
    };
    if dispatch::select(path) {
        Ok(())
    } else {
        Err(PyValueError::new_err(format!("this machine does not support {name}")))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(instruction_sets, module)?)?;
    module.add_function(wrap_pyfunction!(instruction_set, module)?)?;
    module.add_function(wrap_pyfunction!(use_instruction_set, module)?)
}
