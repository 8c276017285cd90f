//! Events of live sources, many at a time.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::KernelError;
use streamgauge_kernels::events::{Avro, Csv, Decoded, Decoder, Field, Fields, Format, Json, Use};

use crate::convert::{column, to_python, work};
use crate::text::{dialect, names};

/// A field: its name, its nominal values, its use, whether it may be missing.
type FieldSpec = (String, Option<Vec<String>>, String, bool);

/// The events without a fault: which, values, classes, weights, times, keys; and the faults of the others.
type Columns = (
    Py<PyArray1<i64>>,
    Py<PyArray2<f64>>,
    Py<PyArray1<i32>>,
    Option<Py<PyArray1<f64>>>,
    Option<Py<PyArray1<f64>>>,
    Option<Vec<Py<PyBytes>>>,
    Vec<(usize, String)>,
);

fn fields(specs: Vec<FieldSpec>) -> PyResult<Fields> {
    let field = |(name, values, what, missing): FieldSpec| {
        let what = match what.as_str() {
            "attribute" => Use::Attribute,
            "class" => Use::Class,
            "weight" => Use::Weight,
            "time" => Use::Time,
            "key" => Use::Key,
            _ => return Err(PyValueError::new_err(format!("{what:?} is not a use of a field"))),
        };
        Ok(Field { name, names: values.map(names).transpose()?, what, missing })
    };
    Fields::new(specs.into_iter().map(field).collect::<PyResult<_>>()?).map_err(to_python)
}

/// Decodes many events at once.
#[pyclass(frozen, module = "streamgauge._native")]
struct EventDecoder {
    kernel: Decoder,
}

#[pymethods]
impl EventDecoder {
    /// Decode JSON objects.
    #[staticmethod]
    fn json(fields: Vec<FieldSpec>) -> PyResult<Self> {
        Ok(build(self::fields(fields)?, Box::new(Json)))
    }

    /// Decode lines of delimited values.
    #[staticmethod]
    fn csv(fields: Vec<FieldSpec>, columns: Vec<String>, delimiter: u8, missing: Vec<String>) -> PyResult<Self> {
        let fields = self::fields(fields)?;
        let csv = Csv::new(dialect(delimiter, false, missing)?, &columns, &fields);
        Ok(build(fields, Box::new(csv)))
    }

    /// Decode Avro records of a schema.
    #[staticmethod]
    fn avro(fields: Vec<FieldSpec>, schema: &str) -> PyResult<Self> {
        Ok(build(self::fields(fields)?, Box::new(Avro::new(schema).map_err(to_python)?)))
    }

    /// Decode the events that stand one behind the other and end at `ends`.
    fn decode(&self, py: Python<'_>, events: &[u8], ends: PyReadonlyArray1<'_, i64>) -> PyResult<Columns> {
        let ends = column("ends", &ends)?;
        let kernel = &self.kernel;
        let decoded = work(py, || kernel.decode(events, ends))?;
        let (with_weight, with_time, with_key) = kernel.carries();
        let Decoded { event, x, y, weight, time, keys, key_ends, faults } = decoded;
        let shape = (y.len(), kernel.n_attributes());
        let fault = |_| to_python(KernelError::Shape { what: "x", found: 0, expected: shape.0 * shape.1 });
        let mut start = 0;
        let key = |end: usize| {
            let bytes = PyBytes::new(py, &keys[start..end]).unbind();
            start = end;
            bytes
        };
        let keys = with_key.then(|| key_ends.into_iter().map(key).collect());
        Ok((
            event.into_pyarray(py).unbind(),
            Array2::from_shape_vec(shape, x).map_err(fault)?.into_pyarray(py).unbind(),
            y.into_pyarray(py).unbind(),
            with_weight.then(|| weight.into_pyarray(py).unbind()),
            with_time.then(|| time.into_pyarray(py).unbind()),
            keys,
            faults.into_iter().map(|fault| (fault.event, fault.why)).collect(),
        ))
    }
}

fn build(fields: Fields, format: Box<dyn Format>) -> EventDecoder {
    EventDecoder { kernel: Decoder::new(fields, format) }
}

/// Put what is here into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<EventDecoder>()
}
