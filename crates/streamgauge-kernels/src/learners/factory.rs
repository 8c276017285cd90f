//! Factories of learners, for ensembles and wrappers.

use super::{Learner, Schema};
use crate::KernelError;

/// Builds untrained learners, so that any ensemble or wrapper can contain any learner.
///
/// A closure of a schema and a seed is a factory.
pub trait Factory: Send + Sync {
    /// Builds a learner for rows of the given schema, which may differ from that of the ensemble: fewer attributes in a
    /// random subspace, two classes in one against the rest.
    ///
    /// # Errors
    /// [`KernelError`] if its options do not allow it. What was built once can be built again.
    fn build(&self, schema: &Schema, seed: u64) -> Result<Box<dyn Learner>, KernelError>;
}

impl<F> Factory for F
where
    F: Fn(&Schema, u64) -> Result<Box<dyn Learner>, KernelError> + Send + Sync,
{
    fn build(&self, schema: &Schema, seed: u64) -> Result<Box<dyn Learner>, KernelError> {
        self(schema, seed)
    }
}
