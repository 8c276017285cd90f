//! Validation of the values of a batch against its schema.

use crate::KernelError;
use crate::dispatch;

/// The bits of a float's exponent: all of them are set in infinities and NaN, and in nothing else.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// Checks the values of rows of `n_values.len()` attributes each.
///
/// `n_values` holds the number of nominal values of each attribute, or 0 if it is numeric; `missing` marks the
/// attributes that may be NaN.
///
/// # Errors
/// Returns [`KernelError::Value`] for the first invalid value.
pub fn check_values(x: &[f64], n_values: &[u32], missing: &[bool]) -> Result<(), KernelError> {
    let d = n_values.len();
    if d == 0 || (n_values.iter().all(|&n| n == 0) && all_finite(x)) {
        return Ok(());
    }
    // A row is checked value by value only if a scan without branches finds a fault.
    let limits: Vec<f64> = n_values.iter().map(|&n| if n == 0 { f64::INFINITY } else { f64::from(n) }).collect();
    for (row, values) in x.chunks_exact(d).enumerate() {
        let valid = values.iter().zip(&limits).zip(missing).fold(true, |valid, ((&value, &limit), &missing)| {
            let code = (value >= 0.0) & (value < limit) & (value == value.trunc());
            valid & (code | (value.is_finite() & limit.is_infinite()) | (value.is_nan() & missing))
        });
        if !valid {
            return check_row(row, values, n_values, missing);
        }
    }
    Ok(())
}

fn all_finite(x: &[f64]) -> bool {
    dispatch::run(
        #[inline(always)]
        || !x.iter().fold(false, |bad, value| bad | (value.to_bits() & EXPONENT == EXPONENT)),
    )
}

fn check_row(row: usize, values: &[f64], n_values: &[u32], missing: &[bool]) -> Result<(), KernelError> {
    for (attribute, ((&value, &n), &missing)) in values.iter().zip(n_values).zip(missing).enumerate() {
        let error = |reason: String| Err(KernelError::Value { row, attribute, reason });
        if value.is_nan() {
            if !missing {
                return error("the value is missing (NaN), which the schema does not allow".into());
            }
        } else if value.is_infinite() {
            return error(format!("{value} is not a finite number"));
        } else if n > 0 && !(value >= 0.0 && value < f64::from(n) && value.fract() == 0.0) {
            return error(format!("{value} is not one of its {n} nominal codes"));
        }
    }
    Ok(())
}
