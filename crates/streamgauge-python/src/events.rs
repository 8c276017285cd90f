//! Decoding of events of live sources, many at a time.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use streamgauge_kernels::events::{Avro, Csv, Decoded, Decoder, Field, FieldRole, Fields, Format, Json};
use streamgauge_kernels::text::TimeFormat;

use crate::convert::{read_column, run_kernel, to_python, to_table};
use crate::text::{build_dialect, build_names};

/// A field: its name, its nominal values, its use, whether it may be missing.
type FieldSpec = (String, Option<Vec<String>>, String, bool);

/// The valid events (indexes, values, classes, weights, times, keys), and the faults of the others.
type Columns = (
    Py<PyArray1<i64>>,
    Py<PyArray2<f64>>,
    Py<PyArray1<i32>>,
    Option<Py<PyArray1<f64>>>,
    Option<Py<PyArray1<f64>>>,
    Option<Vec<Py<PyBytes>>>,
    Vec<(usize, String)>,
);

fn parse_fields(specs: Vec<FieldSpec>, time_format: Option<&str>) -> PyResult<Fields> {
    let time_format = TimeFormat::new(time_format).map_err(to_python)?;
    let field = |(name, values, role, missing): FieldSpec| {
        let role = match role.as_str() {
            "attribute" => FieldRole::Attribute,
            "class" => FieldRole::Class,
            "weight" => FieldRole::Weight,
            "time" => FieldRole::Time,
            "key" => FieldRole::Key,
            _ => return Err(PyValueError::new_err(format!("{role:?} is not a role of a field"))),
        };
        Ok(Field { name, names: values.map(build_names).transpose()?, role, missing })
    };
    Ok(Fields::new(specs.into_iter().map(field).collect::<PyResult<_>>()?).with_time_format(time_format))
}

/// A decoder of many events at once.
#[pyclass(frozen, module = "streamgauge._native")]
struct EventDecoder {
    kernel: Decoder,
}

#[pymethods]
impl EventDecoder {
    /// Decodes JSON objects.
    #[staticmethod]
    fn json(fields: Vec<FieldSpec>, time_format: Option<&str>) -> PyResult<Self> {
        Ok(wrap(self::parse_fields(fields, time_format)?, Box::new(Json)))
    }

    /// Decodes lines of delimited values.
    #[staticmethod]
    fn csv(
        fields: Vec<FieldSpec>,
        time_format: Option<&str>,
        columns: Vec<String>,
        delimiter: u8,
        missing: Vec<String>,
    ) -> PyResult<Self> {
        let fields = self::parse_fields(fields, time_format)?;
        let csv = Csv::new(build_dialect(delimiter, false, missing)?, &columns, &fields);
        Ok(wrap(fields, Box::new(csv)))
    }

    /// Decodes Avro records of a schema.
    #[staticmethod]
    fn avro(fields: Vec<FieldSpec>, time_format: Option<&str>, schema: &str) -> PyResult<Self> {
        Ok(wrap(self::parse_fields(fields, time_format)?, Box::new(Avro::new(schema).map_err(to_python)?)))
    }

    /// Decodes consecutive events, which end at `ends`.
    fn decode(&self, py: Python<'_>, events: &[u8], ends: PyReadonlyArray1<'_, i64>) -> PyResult<Columns> {
        let ends = read_column("ends", &ends)?;
        let kernel = &self.kernel;
        let decoded = run_kernel(py, || kernel.decode(events, ends))?;
        let (with_weight, with_time, with_key) = kernel.carries();
        let Decoded { event, x, y, weight, time, keys, key_ends, faults } = decoded;
        let shape = (y.len(), kernel.n_attributes());
        let mut start = 0;
        let key = |end: usize| {
            let bytes = PyBytes::new(py, &keys[start..end]).unbind();
            start = end;
            bytes
        };
        let keys = with_key.then(|| key_ends.into_iter().map(key).collect());
        Ok((
            event.into_pyarray(py).unbind(),
            to_table(py, "x", x, shape)?,
            y.into_pyarray(py).unbind(),
            with_weight.then(|| weight.into_pyarray(py).unbind()),
            with_time.then(|| time.into_pyarray(py).unbind()),
            keys,
            faults.into_iter().map(|error| (error.event, error.reason)).collect(),
        ))
    }
}

fn wrap(fields: Fields, format: Box<dyn Format>) -> EventDecoder {
    EventDecoder { kernel: Decoder::new(fields, format) }
}

/// Adds the bindings to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<EventDecoder>()
}
