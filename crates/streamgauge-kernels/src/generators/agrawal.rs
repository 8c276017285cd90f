//! Loan applications (Agrawal, Imielinski and Swami, "Database mining: a performance perspective", IEEE Transactions on
//! Knowledge and Data Engineering 5, 1993).

use super::{Generator, Source, fill_uniform};
use crate::dispatch;
use crate::randomness::Draws;

const N_ATTRIBUTES: usize = 9;
/// Uniform numbers per row: one per attribute and one per perturbed attribute.
const N_UNIFORM: usize = 16;
/// Rows in a block.
const BLOCK: usize = 32;

/// Loan applications: one of ten rules decides who gets a loan (class 0) and who does not (class 1); the numbers are
/// then perturbed.
#[derive(Debug, Clone)]
pub struct Agrawal {
    concept: usize,
    perturbation: f64,
    uniform: Draws,
}

/// An applicant for a loan.
#[derive(Debug, Clone, Copy)]
struct Applicant {
    salary: f64,
    commission: f64,
    age: f64,
    education: f64,
    car: f64,
    zipcode: f64,
    house_value: f64,
    house_years: f64,
    loan: f64,
}

impl Agrawal {
    /// Creates one of ten concepts, counted from 1, with numbers perturbed by up to `perturbation` times their range.
    pub fn new(concept: usize, perturbation: f64, source: impl Into<Source>) -> Self {
        Self { concept, perturbation, uniform: source.into().rows("Agrawal attributes") }
    }

    #[inline(always)]
    fn fill_block(&self, start: u64, x: &mut [f64], y: &mut [i32], is_refused: impl Fn(&Applicant) -> bool) {
        let mut uniform = [0.0; BLOCK * N_UNIFORM];
        let uniform = &mut uniform[..y.len() * N_UNIFORM];
        fill_uniform(self.uniform, start.wrapping_mul(N_UNIFORM as u64), 0.0, 1.0, uniform);
        let (rows, _) = x.as_chunks_mut::<N_ATTRIBUTES>();
        for ((u, values), label) in uniform.as_chunks::<N_UNIFORM>().0.iter().zip(rows).zip(y) {
            let mut applicant = Applicant::new(u);
            *label = i32::from(is_refused(&applicant));
            if self.perturbation > 0.0 {
                applicant.perturb(u, 2.0 * self.perturbation);
            }
            *values = applicant.values();
        }
    }

    #[inline(always)]
    fn fill_rows(&self, start: u64, x: &mut [f64], y: &mut [i32], is_refused: impl Fn(&Applicant) -> bool) {
        for (i, (x, y)) in x.chunks_mut(BLOCK * N_ATTRIBUTES).zip(y.chunks_mut(BLOCK)).enumerate() {
            self.fill_block(start.wrapping_add((i * BLOCK) as u64), x, y, &is_refused);
        }
    }
}

impl Applicant {
    #[inline(always)]
    fn new(u: &[f64; N_UNIFORM]) -> Self {
        let salary = 20_000.0 + 130_000.0 * u[0];
        let zipcode = (9.0 * u[5]).floor();
        Self {
            salary,
            commission: if salary >= 75_000.0 { 0.0 } else { 10_000.0 + 65_000.0 * u[1] },
            age: 20.0 + (61.0 * u[2]).floor(),
            education: (5.0 * u[3]).floor(),
            car: (20.0 * u[4]).floor(),
            zipcode,
            house_value: (9.0 - zipcode) * 100_000.0 * (0.5 + u[6]),
            house_years: 1.0 + (30.0 * u[7]).floor(),
            loan: 500_000.0 * u[8],
        }
    }

    /// Moves the numbers at random, by at most half of `share` times their range, and clamps them to it.
    #[inline(always)]
    fn perturb(&mut self, u: &[f64; N_UNIFORM], share: f64) {
        let shift =
            |value: f64, u: f64, range: f64, low: f64, high: f64| (value + range * (u - 0.5) * share).clamp(low, high);
        self.salary = shift(self.salary, u[9], 130_000.0, 20_000.0, 150_000.0);
        if self.commission > 0.0 {
            self.commission = shift(self.commission, u[10], 65_000.0, 10_000.0, 75_000.0);
        }
        self.age = (shift(self.age, u[11], 60.0, 20.0, 80.0) + 0.5).floor();
        let house_range = (9.0 - self.zipcode) * 100_000.0;
        self.house_value = shift(self.house_value, u[12], house_range, 0.0, 1_350_000.0);
        self.house_years = (shift(self.house_years, u[13], 29.0, 1.0, 30.0) + 0.5).floor();
        self.loan = shift(self.loan, u[14], 500_000.0, 0.0, 500_000.0);
    }

    #[inline(always)]
    fn values(&self) -> [f64; N_ATTRIBUTES] {
        [
            self.salary,
            self.commission,
            self.age,
            self.education,
            self.car,
            self.zipcode,
            self.house_value,
            self.house_years,
            self.loan,
        ]
    }

    #[inline(always)]
    fn income(&self) -> f64 {
        self.salary + self.commission
    }

    /// Returns one of three values: for the young, the middle-aged, and those of 60 and more.
    #[inline(always)]
    fn by_age<T>(&self, young: T, middle: T, old: T) -> T {
        if self.age < 40.0 {
            young
        } else if self.age < 60.0 {
            middle
        } else {
            old
        }
    }

    /// Returns two thirds of the income minus the expenses.
    #[inline(always)]
    fn disposable(&self, spent: f64) -> f64 {
        2.0 * self.income() / 3.0 - spent
    }
}

/// Returns whether a value is in a range, which is given in thousands.
#[inline(always)]
fn is_within(value: f64, (low, high): (f64, f64)) -> bool {
    (1_000.0 * low..=1_000.0 * high).contains(&value)
}

const LOW: (f64, f64) = (25.0, 75.0);
const MIDDLE: (f64, f64) = (50.0, 100.0);
const HIGH: (f64, f64) = (75.0, 125.0);
const SMALL_LOAN: (f64, f64) = (100.0, 300.0);
const MIDDLE_LOAN: (f64, f64) = (200.0, 400.0);
const LARGE_LOAN: (f64, f64) = (300.0, 500.0);

/// Returns whether the education suits the age in concepts 3 and 4.
#[inline(always)]
fn is_educated(a: &Applicant) -> bool {
    let (low, high) = a.by_age((0.0, 1.0), (1.0, 3.0), (2.0, 4.0));
    (low..=high).contains(&a.education)
}

#[inline(always)]
fn rule_1(a: &Applicant) -> bool {
    a.by_age(false, true, false)
}

#[inline(always)]
fn rule_2(a: &Applicant) -> bool {
    !is_within(a.salary, a.by_age(MIDDLE, HIGH, LOW))
}

#[inline(always)]
fn rule_3(a: &Applicant) -> bool {
    !is_educated(a)
}

#[inline(always)]
fn rule_4(a: &Applicant) -> bool {
    let (if_educated, if_not) = a.by_age((LOW, MIDDLE), (MIDDLE, HIGH), (MIDDLE, LOW));
    !is_within(a.salary, if is_educated(a) { if_educated } else { if_not })
}

#[inline(always)]
fn rule_5(a: &Applicant) -> bool {
    let (salary, if_within, if_not) =
        a.by_age((MIDDLE, SMALL_LOAN, MIDDLE_LOAN), (HIGH, MIDDLE_LOAN, LARGE_LOAN), (LOW, LARGE_LOAN, SMALL_LOAN));
    !is_within(a.loan, if is_within(a.salary, salary) { if_within } else { if_not })
}

#[inline(always)]
fn rule_6(a: &Applicant) -> bool {
    !is_within(a.income(), a.by_age(MIDDLE, HIGH, LOW))
}

#[inline(always)]
fn rule_7(a: &Applicant) -> bool {
    a.disposable(a.loan / 5.0 + 20_000.0) <= 0.0
}

#[inline(always)]
fn rule_8(a: &Applicant) -> bool {
    a.disposable(5_000.0 * a.education + 20_000.0) <= 0.0
}

#[inline(always)]
fn rule_9(a: &Applicant) -> bool {
    a.disposable(5_000.0 * a.education + a.loan / 5.0 + 10_000.0) <= 0.0
}

#[inline(always)]
fn rule_10(a: &Applicant) -> bool {
    let equity = if a.house_years >= 20.0 { a.house_value * (a.house_years - 20.0) / 10.0 } else { 0.0 };
    a.disposable(5_000.0 * a.education - equity / 5.0 + 10_000.0) <= 0.0
}

impl Generator for Agrawal {
    fn n_attributes(&self) -> usize {
        N_ATTRIBUTES
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        macro_rules! fill_by {
            ($rule:ident) => {
                dispatch::run(
                    #[inline(always)]
                    || self.fill_rows(start, x, y, $rule),
                )
            };
        }
        match self.concept {
            1 => fill_by!(rule_1),
            2 => fill_by!(rule_2),
            3 => fill_by!(rule_3),
            4 => fill_by!(rule_4),
            5 => fill_by!(rule_5),
            6 => fill_by!(rule_6),
            7 => fill_by!(rule_7),
            8 => fill_by!(rule_8),
            9 => fill_by!(rule_9),
            _ => fill_by!(rule_10),
        }
    }
}
