//! Ensembles and wrappers: learners made of learners, of any kind that a [`Factory`](super::Factory) builds.
//!
//! Members are independent, so each processes a whole block of rows before the next one does: one model at a time stays
//! in the cache. Where members do depend on each other, that happens at rare rows (the replacement of a member) or from
//! one member to the next (boosting), and the results equal those of row by row to the last bit.

mod combining;
mod drift_reset;
mod dynamic_weighted_majority;
mod leveraging_bagging;
mod members;
mod one_vs_rest;
mod oza_bag;
mod oza_boost;
mod resampling_bag;

pub use drift_reset::DriftReset;
pub use dynamic_weighted_majority::{DynamicWeightedMajority, DynamicWeightedMajorityOptions};
pub use leveraging_bagging::LeveragingBagging;
pub use one_vs_rest::OneVsRest;
pub use oza_bag::OzaBag;
pub use oza_boost::OzaBoost;
pub use resampling_bag::{Resampling, ResamplingBag};

#[cfg(test)]
mod tests;
