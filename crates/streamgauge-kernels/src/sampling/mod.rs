//! Sampling of training and test sets: which rows, and the text of those selected.

mod counting;
mod selection;
mod text;

pub use counting::Counting;
pub use selection::{Fate, Group, Selection};
pub use text::{Chosen, Sampling};
