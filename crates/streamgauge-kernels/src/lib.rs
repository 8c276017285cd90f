//! The native kernels of streamgauge.
//!
//! A kernel is a pure function over columns, or a state with `update(column) -> column`. Kernels do not depend on
//! Python, files or plots, so that `cargo test` covers them. Errors are values ([`KernelError`]).
//!
//! The same inputs give the same bits on every instruction set: loops keep a fixed number of lanes, sums are
//! never reassociated and fused multiply-adds are written out ([`dispatch`]).

pub mod adaptive_window;
pub mod baselines;
pub mod bins;
pub mod codec;
pub mod comparison;
pub mod detectors;
pub mod dispatch;
pub mod error;
pub mod events;
pub mod forgetting;
pub mod generators;
pub mod learners;
pub mod randomness;
pub mod sampling;
pub mod shuffling;
pub mod text;
pub mod threads;
pub mod validation;
pub mod writing;

pub use error::KernelError;
