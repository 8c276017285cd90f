//! How ensembles and wrappers get their learners.

use super::{Learner, Schema};
use crate::KernelError;

/// Builds learners that have seen nothing, so that any ensemble or wrapper goes round any learner.
///
/// A closure of a schema and a seed is one.
pub trait Factory: Send + Sync {
    /// Build a learner of rows of the given schema, which may be another than that of the ensemble: fewer attributes
    /// in a random subspace, two classes in one against the rest.
    ///
    /// # Errors
    /// [`KernelError`] where its options do not allow it. What was built once can be built again.
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
