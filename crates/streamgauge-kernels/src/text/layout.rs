//! The columns of a file.

use super::{Dialect, Names, TimeFormat};
use crate::KernelError;
use crate::error::check_option;

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// An attribute of the rows.
    Attribute,
    /// The class.
    Class,
    /// The weight of the row.
    Weight,
    /// The time of the row.
    Time,
    /// Excluded.
    Dropped,
}

/// A column of a file.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The names of its nominal values; none if it is numeric.
    pub names: Option<Names>,
    /// Its role.
    pub role: Role,
    /// Whether values may be missing.
    pub missing: bool,
    /// How its times are written; none if it holds no times.
    pub times: Option<TimeFormat>,
}

impl Column {
    /// Returns its role and name, for a message.
    #[must_use]
    pub fn describe(&self) -> String {
        let word = match self.role {
            Role::Attribute | Role::Dropped => "attribute",
            Role::Class => "class",
            Role::Weight => "weight",
            Role::Time => "time",
        };
        format!("{word} '{}'", self.name)
    }
}

/// The columns of a file and their syntax.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The syntax of values.
    pub dialect: Dialect,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
}

impl Layout {
    /// Creates a layout.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if there is no column.
    pub fn new(dialect: Dialect, columns: Vec<Column>) -> Result<Self, KernelError> {
        check_option("columns", "none", !columns.is_empty(), "there must be at least one")?;
        Ok(Self { dialect, columns })
    }
}
