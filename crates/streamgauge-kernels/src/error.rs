//! What can go wrong in a kernel.

use thiserror::Error;

/// An error of a kernel, told so that a person can act on it.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum KernelError {
    /// Two columns that must agree in length do not.
    #[error("{what} has {found} values where {expected} are needed")]
    Shape {
        /// The column at fault.
        what: &'static str,
        /// How many values it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A value of a row is not what the schema allows.
    #[error("row {row}, attribute {attribute}: {reason}")]
    Value {
        /// The row, counted from the start of the batch.
        row: usize,
        /// The attribute, counted from 0.
        attribute: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A label is not a class of the schema.
    #[error("row {row}: label {label} is not a class code; there are {n_classes} classes, coded from 0")]
    Label {
        /// The row, counted from the start of the batch.
        row: usize,
        /// The label found.
        label: i32,
        /// How many classes there are.
        n_classes: usize,
    },
    /// A prediction is neither a class of the schema nor an abstention.
    #[error("row {row}: prediction {prediction} is not a class code; there are {n_classes} classes, coded from 0")]
    Prediction {
        /// The row, counted from the start of the batch.
        row: usize,
        /// The prediction found.
        prediction: i32,
        /// How many classes there are.
        n_classes: usize,
    },
    /// A weight is negative or not finite.
    #[error("row {row}: weight {weight} is not a finite number of 0 or more")]
    Weight {
        /// The row, counted from the start of the batch.
        row: usize,
        /// The weight found.
        weight: f64,
    },
    /// A value is not one that a detector can take in.
    #[error("value {row}: {value} is not {expected}")]
    Monitored {
        /// The value, counted from the start of the column.
        row: usize,
        /// The value found.
        value: f64,
        /// What it should have been.
        expected: &'static str,
    },
    /// The votes of a row are not what they may be.
    #[error("row {row}: {reason}")]
    Votes {
        /// The row, counted from the start of the batch.
        row: usize,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// An option is outside its range.
    #[error("{option} = {found}: {expected}")]
    Option {
        /// The option at fault.
        option: &'static str,
        /// The value given.
        found: String,
        /// What it should have been.
        expected: &'static str,
    },
    /// The rows are not those that were counted before.
    #[error("{found} rows of {group} where {expected} were counted before: the input has changed")]
    Counted {
        /// The class or group of classes.
        group: String,
        /// How many rows there are now, or at least so many.
        found: u64,
        /// How many were counted.
        expected: u64,
    },
    /// A member of an ensemble cannot be built.
    #[error("a member of the ensemble cannot be built: {reason}")]
    Member {
        /// Why not.
        reason: String,
    },
    /// Saved bytes are damaged, or were written by something else.
    #[error("these bytes are not a saved {what}: {reason}")]
    Saved {
        /// What was to be read.
        what: &'static str,
        /// Why it could not be.
        reason: &'static str,
    },
    /// A file of text has a fault.
    #[error(transparent)]
    Text(#[from] crate::text::TextError),
}

/// Check that a column has the length it must have.
///
/// # Errors
/// [`KernelError::Shape`] where it has not.
pub fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), KernelError> {
    if found == expected { Ok(()) } else { Err(KernelError::Shape { what, found, expected }) }
}

/// Returns the error for an option that is outside its range.
#[must_use]
pub fn option_error(option: &'static str, found: impl ToString, expected: &'static str) -> KernelError {
    KernelError::Option { option, found: found.to_string(), expected }
}

/// Checks a condition on an option.
///
/// # Errors
/// Returns [`KernelError::Option`] if the condition does not hold.
pub fn check_option(
    option: &'static str,
    found: impl ToString,
    valid: bool,
    expected: &'static str,
) -> Result<(), KernelError> {
    if valid { Ok(()) } else { Err(option_error(option, found, expected)) }
}
