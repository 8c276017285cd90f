//! The options of an ensemble whose members are renewed.

use crate::KernelError;
use crate::adaptive_window::Settings;
use crate::randomness::Poisson;

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

impl AdaptiveForestOptions {
    /// Check that each is in its range.
    ///
    /// # Errors
    /// [`KernelError::Option`] about the first that is not.
    pub fn check(&self) -> Result<(), KernelError> {
        let expected = "it must be at least 1";
        let sizes = [("n_members", self.n_members), ("subspace", self.member_subspace.unwrap_or(1))];
        for (option, found) in sizes {
            if found == 0 {
                return Err(KernelError::Option { option, found: found.to_string(), expected });
            }
        }
        for (option, delta) in [("warning_delta", self.warning_delta), ("drift_delta", self.drift_delta)] {
            if let Some(found) = delta.filter(|&delta| Settings::new(delta).check().is_err()) {
                let expected = "it must be a number in (0, 1)";
                return Err(KernelError::Option { option, found: found.to_string(), expected });
            }
        }
        self.mean_weight.map_or(Ok(()), |mean| Poisson::new(mean).map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_outside_their_range_are_refused_by_name() {
        let fine = AdaptiveForestOptions {
            n_members: 3,
            mean_weight: Some(6.0),
            member_subspace: None,
            warning_delta: Some(0.01),
            drift_delta: Some(0.001),
            weighted_votes: true,
            weighted_background: false,
        };
        let name = |options: AdaptiveForestOptions| match options.check() {
            Err(KernelError::Option { option, .. }) => option,
            _ => "",
        };
        assert_eq!(name(fine), "");
        assert_eq!(name(AdaptiveForestOptions { n_members: 0, ..fine }), "n_members");
        assert_eq!(name(AdaptiveForestOptions { member_subspace: Some(0), ..fine }), "subspace");
        assert_eq!(name(AdaptiveForestOptions { warning_delta: Some(1.0), ..fine }), "warning_delta");
        assert_eq!(name(AdaptiveForestOptions { drift_delta: Some(f64::NAN), ..fine }), "drift_delta");
        assert_eq!(name(AdaptiveForestOptions { mean_weight: Some(0.0), ..fine }), "mean_weight");
    }
}
