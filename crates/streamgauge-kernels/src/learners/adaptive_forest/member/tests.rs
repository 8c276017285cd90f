//! What happens at warnings and drifts.

use super::*;
use crate::learners::adaptive_forest::AdaptiveForestOptions;
use crate::learners::{Factory, Schema};

const OPTIONS: AdaptiveForestOptions = AdaptiveForestOptions {
    n_members: 1,
    mean_weight: None,
    member_subspace: None,
    warning_delta: Some(0.01),
    drift_delta: Some(0.001),
    weighted_votes: true,
    weighted_background: true,
    learns_twice: true,
};

/// A learner that predicts class 0 and counts the rows that it learns.
struct RowCounter {
    schema: Schema,
    n_learnt: u64,
}

impl Learner for RowCounter {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, _x: &[f64], votes: &mut [f64]) {
        votes.copy_from_slice(&[1.0, 0.0]);
    }

    fn learn(&mut self, _x: &[f64], _label: usize, _weight: f64) {
        self.n_learnt += 1;
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![("n_learnt", self.n_learnt)]
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>()
    }

    fn save(&self) -> Vec<u8> {
        vec![self.n_learnt as u8]
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        self.n_learnt = u64::from(bytes[0]);
        Ok(())
    }
}

#[allow(clippy::unnecessary_wraps)] // a factory may fail
fn counter(schema: &Schema, _seed: u64) -> Result<Box<dyn Learner>, KernelError> {
    Ok(Box::new(RowCounter { schema: schema.clone(), n_learnt: 0 }))
}

/// A member, and what its models are built with.
struct Bench {
    schema: Schema,
    options: AdaptiveForestOptions,
    member: Member,
}

impl Bench {
    fn new(options: AdaptiveForestOptions) -> Self {
        let schema = Schema { n_values: vec![0], n_classes: 2 };
        let builder = ModelBuilder { schema: &schema, options: &options, factory: &counter as &dyn Factory, seed: 1 };
        let member = Member::new(&builder, 0, None).unwrap();
        Self { schema, options, member }
    }

    fn apply(&mut self, change: impl Fn(&mut Member, &ModelBuilder<'_>)) {
        let Self { schema, options, member } = self;
        change(member, &ModelBuilder { schema, options, factory: &counter as &dyn Factory, seed: 1 });
    }

    /// Learns `n` rows of class 0; returns the rows that the model and the background model have learnt.
    fn learn(&mut self, n: usize) -> (u64, Option<u64>) {
        self.apply(|member, builder| {
            let (x, y) = (vec![0.0; n], vec![0; n]);
            let chunk = Chunk {
                step: Step { x: &x, y: &y, test: None, weight: None },
                d: 1,
                n_classes: 2,
                weights: &vec![1.0; n],
                to_predict: &vec![true; n],
                n_learnt: 0,
            };
            member.interleave(builder, None, &chunk, &mut Scratch::default(), &mut vec![0.0; 2 * n]);
        });
        let n_learnt = |model: &Model| model.learner.facts()[0].1;
        (n_learnt(self.member.model()), self.member.background().map(n_learnt))
    }

    /// Returns the widths of the windows for warnings and for drifts, and the weight on which the model was tested.
    fn widths(&self) -> (u64, u64, f64) {
        let width = |window: &Option<AdaptiveWindow>| window.as_ref().unwrap().width();
        (width(&self.member.warning), width(&self.member.drift), self.member.tested_weight)
    }
}

#[test]
fn a_promoted_model_learns_every_row_twice_until_the_next_warning() {
    let mut bench = Bench::new(OPTIONS);
    assert_eq!(bench.learn(10), (10, None));
    bench.apply(Member::start_background);
    assert_eq!((bench.widths(), bench.learn(40)), ((0, 10, 10.0), (50, Some(40))));
    bench.apply(Member::replace_model);
    assert_eq!((bench.widths(), bench.learn(70)), ((0, 0, 0.0), (180, None)));
    bench.apply(Member::start_background);
    assert_eq!(bench.learn(5), (185, Some(5)));
}

#[test]
fn a_drift_without_a_warning_since_the_last_one_keeps_the_promoted_model_and_its_windows() {
    let mut bench = Bench::new(OPTIONS);
    bench.apply(Member::start_background);
    bench.apply(Member::replace_model);
    assert_eq!(bench.learn(20), (40, None));
    bench.apply(Member::replace_model);
    assert_eq!(bench.widths(), (20, 20, 0.0));
    assert_eq!((bench.learn(5), bench.member.n_drifts), ((50, None), 2));
}

#[test]
fn a_drift_without_a_background_model_keeps_the_window_for_warnings() {
    for learns_twice in [true, false] {
        let mut bench = Bench::new(AdaptiveForestOptions { learns_twice, ..OPTIONS });
        bench.learn(20);
        bench.apply(Member::replace_model);
        assert_eq!((bench.widths(), bench.learn(3)), ((20, 0, 0.0), (3, None)));
    }
}

#[test]
fn a_background_model_of_a_forest_learns_once_after_it_has_taken_over() {
    let mut bench = Bench::new(AdaptiveForestOptions { learns_twice: false, ..OPTIONS });
    bench.apply(Member::start_background);
    bench.apply(Member::replace_model);
    assert_eq!(bench.learn(20), (20, None));
    bench.apply(Member::replace_model);
    assert_eq!((bench.widths(), bench.learn(3)), ((20, 0, 0.0), (3, None)));
}

#[test]
fn a_saved_member_stays_promoted_and_an_unknown_background_is_refused() {
    let mut bench = Bench::new(OPTIONS);
    bench.apply(Member::start_background);
    bench.apply(Member::replace_model);
    let mut writer = crate::codec::Writer::new("member", 1);
    bench.member.save(&mut writer);
    let bytes = writer.finish();
    bench.apply(|member, builder| {
        let load = |builder: &ModelBuilder<'_>| {
            let mut reader = Reader::new("member", 1, &bytes).unwrap();
            member.load(builder, &mut reader)
        };
        assert!(load(builder).is_ok_and(|loaded| loaded.is_promoted));
        let options = AdaptiveForestOptions { learns_twice: false, ..OPTIONS };
        assert!(load(&ModelBuilder { options: &options, ..*builder }).is_err());
    });
}
