//! Learners made of learners: a factory that builds members in Python, and members that are Python objects.
//!
//! Python's `streamgauge.learners.composition.builder` returns a function that builds one member. A native member is
//! taken out of its Python object and then runs without Python; any other is called back, in whole blocks if the
//! ensemble allows it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::intern;
use pyo3::prelude::*;
use streamgauge_kernels::KernelError;
use streamgauge_kernels::learners::{ABSTAINED, Factory, Learner as Kernel, Schema, Step};
use streamgauge_kernels::threads::owner;

use crate::convert::to_table;
use crate::learners::Learner;

/// The exceptions of the first failing calls into Python, by the thread that runs the kernel, until its call returns.
static PENDING_ERRORS: Mutex<Vec<(ThreadId, PyErr)>> = Mutex::new(vec![]);

fn lock_errors() -> MutexGuard<'static, Vec<(ThreadId, PyErr)>> {
    PENDING_ERRORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the exception of a call into Python, because the kernel cannot return it.
fn store_error(error: PyErr) {
    if !has_pending_error() {
        lock_errors().push((owner(), error));
    }
}

/// Takes the exception that a call into Python raised, if any.
pub fn take_pending_error() -> Option<PyErr> {
    let mut errors = lock_errors();
    let index = errors.iter().position(|(thread, _)| *thread == owner())?;
    Some(errors.swap_remove(index).1)
}

/// Returns whether a call into Python has failed, so that no further one should be made.
fn has_pending_error() -> bool {
    lock_errors().iter().any(|(thread, _)| *thread == owner())
}

/// A factory that calls a Python function with the numbers of values, the number of classes and a seed.
pub struct PythonFactory {
    build: Py<PyAny>,
}

impl PythonFactory {
    /// Creates a factory that calls a function.
    pub fn new(build: Py<PyAny>) -> Self {
        Self { build }
    }

    fn call(&self, py: Python<'_>, schema: &Schema, seed: u64) -> PyResult<Box<dyn Kernel>> {
        let n_values = schema.n_values.clone().into_pyarray(py);
        let built = self.build.bind(py).call1((n_values, schema.n_classes, seed))?;
        match built.cast::<Learner>() {
            Ok(native) => Ok(native.try_borrow_mut()?.take()),
            Err(_) => Ok(Box::new(PythonLearner { schema: schema.clone(), learner: built.unbind() })),
        }
    }
}

impl Factory for PythonFactory {
    fn build(&self, schema: &Schema, seed: u64) -> Result<Box<dyn Kernel>, KernelError> {
        Python::attach(|py| self.call(py, schema, seed)).map_err(|error| {
            let reason = error.to_string();
            store_error(error);
            KernelError::Member { reason }
        })
    }
}

/// A learner in Python, with the methods of the native `Learner`.
struct PythonLearner {
    schema: Schema,
    learner: Py<PyAny>,
}

impl PythonLearner {
    /// Calls Python; stores an exception, after which no more calls are made.
    fn call<T>(&self, run_kernel: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        if has_pending_error() {
            return None;
        }
        Python::attach(|py| run_kernel(self.learner.bind(py))).map_err(store_error).ok()
    }

    fn rows<'py>(&self, py: Python<'py>, x: &[f64], n: usize) -> PyResult<Bound<'py, PyAny>> {
        let d = self.schema.n_attributes();
        Ok(to_table(py, "x", x[..n * d].to_vec(), (n, d))?.into_bound(py).into_any())
    }

    fn interleave_in_python(
        &self,
        learner: &Bound<'_, PyAny>,
        step: &Step<'_>,
        predictions: &mut [i32],
        votes: Option<&mut [f64]>,
    ) -> PyResult<()> {
        let py = learner.py();
        let (n, with_votes) = (step.y.len(), votes.is_some());
        let x = self.rows(py, step.x, n)?;
        let y = step.y.to_vec().into_pyarray(py);
        let test = step.test.map(|test| test.to_vec().into_pyarray(py));
        let weight = step.weight.map(|weight| weight.to_vec().into_pyarray(py));
        let result = learner.call_method1(intern!(py, "interleave"), (x, y, test, weight, with_votes))?;
        let (result, result_votes): (PyReadonlyArray1<'_, i32>, Option<PyReadonlyArray2<'_, f64>>) =
            result.extract()?;
        copy(&result.as_array().to_vec(), predictions, "predictions")?;
        if let (Some(votes), Some(result)) = (votes, result_votes) {
            copy_votes(&result, votes)?;
        }
        Ok(())
    }
}

fn copy<T: Copy>(from: &[T], to: &mut [T], what: &'static str) -> PyResult<()> {
    if from.len() != to.len() {
        return Err(crate::convert::to_python(KernelError::Shape { what, found: from.len(), expected: to.len() }));
    }
    to.copy_from_slice(from);
    Ok(())
}

fn copy_votes(result: &PyReadonlyArray2<'_, f64>, votes: &mut [f64]) -> PyResult<()> {
    // A vote that is not finite counts as 0, as from a scikit-learn model that has seen too few rows.
    let finite = |&vote: &f64| if vote.is_finite() { vote } else { 0.0 };
    copy(&result.as_array().iter().map(finite).collect::<Vec<_>>(), votes, "votes")
}

impl Kernel for PythonLearner {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let n = votes.len() / self.schema.n_classes;
        let result = self.call(|learner| {
            let rows = self.rows(learner.py(), x, n)?;
            let result = learner.call_method1(intern!(learner.py(), "predict"), (rows,))?;
            copy_votes(&result.extract()?, votes)
        });
        if result.is_none() {
            votes.fill(0.0);
        }
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        let step = Step { x, y: &[label as i32], test: Some(&[false]), weight: Some(&[weight]) };
        self.interleave(&step, &mut [ABSTAINED], None);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let result = self.call(|learner| self.interleave_in_python(learner, step, predictions, votes.as_deref_mut()));
        if result.is_none() {
            predictions.fill(ABSTAINED);
            if let Some(votes) = votes {
                votes.fill(0.0);
            }
        }
    }

    fn is_native(&self) -> bool {
        false
    }

    fn n_bytes(&self) -> usize {
        let member_bytes = self.call(|learner| learner.getattr(intern!(learner.py(), "n_bytes"))?.extract::<usize>());
        size_of::<Self>() + 4 * self.schema.n_values.capacity() + member_bytes.unwrap_or(0)
    }

    fn save(&self) -> Vec<u8> {
        self.call(|learner| learner.call_method0(intern!(learner.py(), "save"))?.extract()).unwrap_or_default()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let result = self.call(|learner| learner.call_method1(intern!(learner.py(), "load"), (bytes,)).map(|_| ()));
        result.ok_or(KernelError::Saved { what: "member", reason: "its learner rejected it" })
    }
}
