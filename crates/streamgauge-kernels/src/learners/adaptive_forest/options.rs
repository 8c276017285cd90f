//! The options of an adaptive forest. Their ranges are checked in Python.

/// The options of an ensemble that replaces members whose error rises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptiveForestOptions {
    /// The number of members.
    pub n_members: usize,
    /// The mean of the Poisson weights with which members learn; `None` for the weights of the rows.
    pub mean_weight: Option<f64>,
    /// The number of attributes of each member; `None` for all.
    pub member_subspace: Option<usize>,
    /// The significance level of a change that starts a background learner; `None` for no background learners.
    pub warning_delta: Option<f64>,
    /// The significance level of a change that replaces a member; `None` for no replacement.
    pub drift_delta: Option<f64>,
    /// Whether members vote with their accuracy.
    pub weighted_votes: bool,
    /// Whether background learners learn with Poisson weights too.
    pub weighted_background: bool,
    /// Whether a background learner that has replaced a model learns every row twice until the next warning.
    pub learns_twice: bool,
}
