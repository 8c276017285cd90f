//! Bindings of the trees.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamgauge_kernels::learners::{
    self as kernels, ExtremelyFastDecisionTreeOptions, HoeffdingAdaptiveTreeOptions, HoeffdingTreeOptions,
    LeafPrediction, SplitCriterion,
};

use crate::convert::to_python;
use crate::learners::{Learner, build_schema};

/// The options that all trees share.
#[pyclass(module = "streamgauge._native", frozen)]
pub struct TreeOptions {
    /// The options of the kernel.
    pub options: HoeffdingTreeOptions,
}

#[pymethods]
impl TreeOptions {
    #[new]
    fn new(
        grace_period: f64,
        split_confidence: f64,
        tie_threshold: f64,
        leaf_prediction: &str,
        binary_splits: bool,
        split_criterion: &str,
        remove_poor_attributes: bool,
        max_bytes: usize,
    ) -> PyResult<Self> {
        let leaf_prediction = match leaf_prediction {
            "majority" => LeafPrediction::Majority,
            "naive_bayes" => LeafPrediction::NaiveBayes,
            "adaptive" => LeafPrediction::Adaptive,
            _ => return Err(unknown_name_error(leaf_prediction, "leaf prediction")),
        };
        let split_criterion = match split_criterion {
            "info_gain" => SplitCriterion::InfoGain,
            "gini" => SplitCriterion::Gini,
            "hellinger" => SplitCriterion::Hellinger,
            _ => return Err(unknown_name_error(split_criterion, "split criterion")),
        };
        let options = HoeffdingTreeOptions {
            grace_period,
            split_confidence,
            tie_threshold,
            leaf_prediction,
            binary_splits,
            split_criterion,
            remove_poor_attributes,
            max_bytes,
            subspace: None,
        };
        Ok(Self { options })
    }
}

fn unknown_name_error(name: &str, kind: &str) -> PyErr {
    PyValueError::new_err(format!("unknown {kind} {name:?}"))
}

/// Builds a Hoeffding tree.
#[pyfunction]
fn hoeffding_tree(
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    options: PyRef<'_, TreeOptions>,
) -> PyResult<Learner> {
    let kernel = kernels::hoeffding_tree(build_schema(&n_values, n_classes)?, options.options).map_err(to_python)?;
    Ok(Learner { kernel })
}

/// Builds a Hoeffding adaptive tree.
#[pyfunction]
fn hoeffding_adaptive_tree(
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    options: PyRef<'_, TreeOptions>,
    delta: f64,
    bootstrap: bool,
    seed: u64,
) -> PyResult<Learner> {
    let options = HoeffdingAdaptiveTreeOptions { tree: options.options, delta, bootstrap };
    let kernel =
        kernels::hoeffding_adaptive_tree(build_schema(&n_values, n_classes)?, options, seed).map_err(to_python)?;
    Ok(Learner { kernel })
}

/// Builds an extremely fast decision tree.
#[pyfunction]
fn extremely_fast_decision_tree(
    n_values: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    options: PyRef<'_, TreeOptions>,
    revision_period: u64,
) -> PyResult<Learner> {
    let options = ExtremelyFastDecisionTreeOptions { tree: options.options, revision_period };
    let kernel =
        kernels::extremely_fast_decision_tree(build_schema(&n_values, n_classes)?, options).map_err(to_python)?;
    Ok(Learner { kernel })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TreeOptions>()?;
    module.add_function(wrap_pyfunction!(hoeffding_tree, module)?)?;
    module.add_function(wrap_pyfunction!(hoeffding_adaptive_tree, module)?)?;
    module.add_function(wrap_pyfunction!(extremely_fast_decision_tree, module)?)
}
