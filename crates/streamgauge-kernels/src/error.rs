//! The errors of kernels.

use thiserror::Error;

/// An error of a kernel, worded for users.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum KernelError {
    /// Two columns that must agree in length do not.
    #[error("{what} has {found} values where {expected} are needed")]
    Shape {
        /// The column at fault.
        what: &'static str,
        /// The number of values it has.
        found: usize,
        /// The number it should have.
        expected: usize,
    },
    /// A value of a row that the schema does not allow.
    #[error("row {row}, attribute {attribute}: {reason}")]
    Value {
        /// The row, relative to the start of the batch.
        row: usize,
        /// The attribute, counted from 0.
        attribute: usize,
        /// The reason.
        reason: String,
    },
    /// A label is not a class of the schema.
    #[error("row {row}: label {label} is not a class code; there are {n_classes} classes, coded from 0")]
    Label {
        /// The row, relative to the start of the batch.
        row: usize,
        /// The label.
        label: i32,
        /// The number of classes.
        n_classes: usize,
    },
    /// A prediction is neither a class of the schema nor an abstention.
    #[error("row {row}: prediction {prediction} is not a class code; there are {n_classes} classes, coded from 0")]
    Prediction {
        /// The row, relative to the start of the batch.
        row: usize,
        /// The prediction.
        prediction: i32,
        /// The number of classes.
        n_classes: usize,
    },
    /// A weight is negative or not finite.
    #[error("row {row}: weight {weight} is not a finite number of 0 or more")]
    Weight {
        /// The row, relative to the start of the batch.
        row: usize,
        /// The weight.
        weight: f64,
    },
    /// A value that a detector does not accept.
    #[error("value {row}: {value} is not {expected}")]
    Monitored {
        /// The value, relative to the start of the column.
        row: usize,
        /// The value.
        value: f64,
        /// The expected value.
        expected: &'static str,
    },
    /// Invalid votes of a row.
    #[error("row {row}: {reason}")]
    Votes {
        /// The row, relative to the start of the batch.
        row: usize,
        /// The reason.
        reason: &'static str,
    },
    /// An option is outside its range.
    #[error("{option} = {found}: {expected}")]
    Option {
        /// The option at fault.
        option: &'static str,
        /// The value given.
        found: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The rows are not those that were counted before.
    #[error("{group} has {found} rows, but {expected} were counted before: the input has changed")]
    Counted {
        /// The class or group of classes.
        group: String,
        /// The number of rows found, or a lower bound.
        found: u64,
        /// The number of rows counted before.
        expected: u64,
    },
    /// A member of an ensemble cannot be built.
    #[error("a member of the ensemble cannot be built: {reason}")]
    Member {
        /// The reason.
        reason: String,
    },
    /// Saved bytes that are damaged or of another kind.
    #[error("these bytes are not a saved {what}: {reason}")]
    Saved {
        /// The kind of state that was to be read.
        what: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// A fault in a text file.
    #[error(transparent)]
    Text(#[from] crate::text::TextError),
}

/// Checks the length of a column.
///
/// # Errors
/// Returns [`KernelError::Shape`] if it does not.
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
