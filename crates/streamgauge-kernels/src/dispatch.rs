//! One binary for every machine: a kernel is compiled for several instruction sets, and the best is selected at run
//! time.
//!
//! Code below a dispatched closure must be `#[inline(always)]`, so that it is compiled once per instruction set.
//! The bits do not depend on the path: `mul_add` rounds once on each of them (it is only slower without FMA).

use std::sync::atomic::{AtomicU8, Ordering};

use pulp::NullaryFnOnce;

/// An instruction set that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Path {
    /// The baseline of the target (on aarch64 this includes NEON with FMA).
    Baseline = 1,
    /// AVX2 and FMA (x86-64-v3).
    Avx2 = 2,
    /// AVX-512 (x86-64-v4).
    Avx512 = 3,
}

/// 0 until the first kernel has run, then a [`Path`].
static SELECTED: AtomicU8 = AtomicU8::new(0);

/// Returns the paths that this machine supports, slowest first.
#[must_use]
pub fn available_paths() -> Vec<Path> {
    let mut paths = vec![Path::Baseline];
    #[cfg(target_arch = "x86_64")]
    {
        if pulp::x86::V3::try_new().is_some() {
            paths.push(Path::Avx2);
        }
        if pulp::x86::V4::try_new().is_some() {
            paths.push(Path::Avx512);
        }
    }
    paths
}

/// Returns the selected path.
///
/// AVX2 is preferred to AVX-512, whose wider vectors gain nothing at the row lengths of streams and lower the clock
/// rate.
#[must_use]
pub fn selected_path() -> Path {
    match SELECTED.load(Ordering::Relaxed) {
        1 => Path::Baseline,
        2 => Path::Avx2,
        3 => Path::Avx512,
        _ => {
            let path = if available_paths().contains(&Path::Avx2) { Path::Avx2 } else { Path::Baseline };
            SELECTED.store(path as u8, Ordering::Relaxed);
            path
        }
    }
}

/// Selects a path for all kernels, for tests and benchmarks. Returns false if the machine does not support it.
pub fn select(path: Path) -> bool {
    let possible = available_paths().contains(&path);
    if possible {
        SELECTED.store(path as u8, Ordering::Relaxed);
    }
    possible
}

/// A closure that is called in place.
///
/// Called as `FnOnce`, a large closure that only borrows goes through a compiler-generated function that is not
/// inlined, and runs without the instruction set it was dispatched for. Called as `FnMut` it is inlined.
struct InPlace<F>(F);

impl<T, F: FnMut() -> T> NullaryFnOnce for InPlace<F> {
    type Output = T;

    #[inline(always)]
    fn call(mut self) -> T {
        (self.0)()
    }
}

/// Runs a kernel on the selected path.
#[inline(always)]
pub fn run<T>(kernel: impl FnMut() -> T) -> T {
    let kernel = InPlace(kernel);
    #[cfg(target_arch = "x86_64")]
    match selected_path() {
        Path::Baseline => {}
        Path::Avx2 => {
            if let Some(simd) = pulp::x86::V3::try_new() {
                return simd.vectorize(kernel);
            }
        }
        Path::Avx512 => {
            if let Some(simd) = pulp::x86::V4::try_new() {
                return simd.vectorize(kernel);
            }
        }
    }
    kernel.call()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(values: &[f64]) -> f64 {
        run(
            #[inline(always)]
            || values.iter().fold(0.0_f64, |sum, &v| v.mul_add(v, sum) / 1.000_1),
        )
    }

    #[test]
    fn every_path_gives_the_same_bits() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i).sin()).collect();
        let before = selected_path();
        let sums: Vec<u64> = available_paths()
            .into_iter()
            .map(|path| {
                assert!(select(path));
                wave(&values).to_bits()
            })
            .collect();
        assert!(select(before));
        assert!(sums.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
