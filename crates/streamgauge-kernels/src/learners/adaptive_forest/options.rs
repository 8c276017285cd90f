//! The options of an ensemble whose members are renewed.

/// The options of an ensemble whose members are renewed when they get worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptiveForestOptions {
    /// How many members there are.
    pub n_members: usize,
    /// The mean of the Poisson weights with which members learn; `None` gives each row its own weight.
    pub mean_weight: Option<f64>,
    /// How many attributes each member sees; `None` shows all of them.
    pub member_subspace: Option<usize>,
    /// The significance of a change that makes a background learner start; `None` has none.
    pub warning_delta: Option<f64>,
    /// The significance of a change that makes a member give way; `None` lets it stay for ever.
    pub drift_delta: Option<f64>,
    /// Whether members vote with their accuracy.
    pub weighted_votes: bool,
    /// Whether background learners learn with Poisson weights too.
    pub weighted_background: bool,
}
