//! Ensembles and wrappers: learners made of learners, of any kind that a [`Factory`](super::Factory) builds.
//!
//! A member never sees what the others do with a row, so each takes a whole block of rows before the next one does:
//! one model at a time stays in the cache. Where members do influence each other, the influence comes at rare rows
//! (the reset of a member) or flows from one member to the next (boosting), and the order of work is the same to the
//! last bit as row by row.

mod combining;
mod drift_reset;
mod leveraging_bagging;
mod members;
mod one_vs_rest;
mod oza_bag;
mod oza_boost;

pub use drift_reset::DriftReset;
pub use leveraging_bagging::LeveragingBagging;
pub use one_vs_rest::OneVsRest;
pub use oza_bag::OzaBag;
pub use oza_boost::OzaBoost;

#[cfg(test)]
mod tests;
