//! The second pass: the text of the rows that were selected.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use super::{Decimal, Fate, Selection};
use crate::KernelError;
use crate::error::check_length;
use crate::text::{Classes, Line, Mark, RawLines, RawRows, TextError, field};

/// The rows selected from a chunk.
#[derive(Debug, Default)]
pub struct Chosen {
    /// Rows of the training set.
    pub training: Vec<u8>,
    /// Rows of the test set.
    pub test: Vec<u8>,
    /// For each unlabelled row of the test set its position there (from 0) and what the truth of its class says.
    pub truth: Vec<u8>,
}

impl Chosen {
    fn clear(&mut self) {
        self.training.clear();
        self.test.clear();
        self.truth.clear();
    }
}

/// Copies the selected rows of a text that comes in chunks.
pub struct Sampling {
    lines: RawLines,
    rows: RawRows,
    hash: Xxh3,
    copy: Copying,
}

struct Copying {
    classes: Classes,
    groups: Vec<usize>,
    kept: Option<Vec<bool>>,
    selection: Selection,
    n_test: Decimal,
    chosen: Chosen,
    ends: Vec<usize>,
    /// Per class what a line of its truth says after the row.
    truths: Vec<Vec<u8>>,
}

impl Sampling {
    /// A sampling of the rows that follow the header. `groups` says of each class which group of the selection it
    /// belongs to, `truths` what a line of its truth says after the row; `kept` says of each field whether it is kept, None for all.
    ///
    /// # Errors
    /// [`KernelError::Shape`] where `groups` or `kept` do not fit.
    pub fn new(
        rows: RawRows,
        classes: Classes,
        groups: Vec<usize>,
        truths: Vec<Vec<u8>>,
        kept: Option<Vec<bool>>,
        selection: Selection,
        header: &[u8],
        from: Mark,
    ) -> Result<Self, KernelError> {
        check_length("groups", groups.len(), classes.names().len())?;
        if let Some(kept) = &kept {
            check_length("kept", kept.len(), rows.n_fields())?;
        }
        check_length("truths", truths.len(), groups.len())?;
        let copy = Copying {
            truths,
            classes,
            groups,
            kept,
            selection,
            n_test: Decimal::default(),
            chosen: Chosen::default(),
            ends: Vec::new(),
        };
        let mut hash = Xxh3::new();
        hash.update(header);
        Ok(Self { lines: RawLines::new(from), rows, hash, copy })
    }

    /// Select from the rows of a chunk; what is given is overwritten by the next call.
    ///
    /// # Errors
    /// A line that is not a row, or one more of a class than were counted.
    pub fn update(&mut self, chunk: &[u8]) -> Result<&Chosen, KernelError> {
        self.hash.update(chunk);
        self.copy.chosen.clear();
        let Self { lines, rows, copy, .. } = self;
        lines.update(rows, chunk, |line, plain| copy.visit(rows, &line, plain))?;
        Ok(&self.copy.chosen)
    }

    /// Select from a last line that has no end, and check that every row that was counted has come.
    ///
    /// # Errors
    /// As [`update`](Self::update), and [`KernelError::Counted`] where there were fewer rows.
    pub fn finish(&mut self) -> Result<&Chosen, KernelError> {
        self.copy.chosen.clear();
        let Self { lines, rows, copy, .. } = self;
        lines.finish(rows, |line, plain| copy.visit(rows, &line, plain))?;
        self.copy.selection.finish()?;
        Ok(&self.copy.chosen)
    }

    /// A hash of all bytes.
    #[must_use]
    pub fn hash(&self) -> u128 {
        self.hash.digest128()
    }
}

impl Copying {
    #[inline(always)]
    fn visit(&mut self, rows: &RawRows, line: &Line<'_>, plain: bool) -> Result<(), TextError> {
        let class = rows.class(line, plain, &mut self.classes, &mut self.ends)?;
        let group = class.code.map(|code| self.groups[code]);
        let changed = |error: KernelError| TextError::in_line(line.number, error.to_string());
        let fate = self.selection.next(group).map_err(changed)?;
        if fate == Fate::LeftOut {
            return Ok(());
        }
        if self.kept.is_some() {
            rows.fields(line, &mut self.ends)?;
        }
        if let (Fate::Unlabelled, Some(code)) = (fate, class.code) {
            self.chosen.truth.extend_from_slice(self.n_test.digits());
            self.chosen.truth.extend_from_slice(&self.truths[code]);
        }
        let hidden = (fate == Fate::Unlabelled).then_some(class.place);
        if fate == Fate::Training {
            self.copy(rows, line.text, hidden, |chosen| &mut chosen.training);
        } else {
            self.n_test.increment();
            self.copy(rows, line.text, hidden, |chosen| &mut chosen.test);
        }
        Ok(())
    }

    /// Copy the kept fields of a row, a hidden class as `?`.
    fn copy(
        &mut self,
        rows: &RawRows,
        row: &[u8],
        hidden: Option<Range<usize>>,
        set: impl Fn(&mut Chosen) -> &mut Vec<u8>,
    ) {
        let text = set(&mut self.chosen);
        match &self.kept {
            None => match hidden {
                None => text.extend_from_slice(row),
                Some(place) => {
                    text.extend_from_slice(&row[..place.start]);
                    text.push(b'?');
                    text.extend_from_slice(&row[place.end..]);
                }
            },
            Some(kept) => {
                // What follows the declared fields is the weight of the row, which stays.
                let indices = (0..self.ends.len()).filter(|&index| kept.get(index).is_none_or(|&kept| kept));
                for (place, index) in indices.enumerate() {
                    if place > 0 {
                        text.push(rows.delimiter());
                    }
                    if hidden.is_some() && index == rows.class_field() {
                        text.push(b'?');
                    } else {
                        text.extend_from_slice(&row[rows.trimmed(row, field(&self.ends, index))]);
                    }
                }
            }
        }
        text.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Group;
    use crate::text::Dialect;

    fn sampled(text: &[u8], kept: Option<Vec<bool>>, labelled: u64, cuts: usize) -> [String; 3] {
        let groups = [Group { rows: 2, training: 1, test: 1 }, Group { rows: 1, training: 0, test: 1 }];
        let selection = Selection::new(&groups, labelled, 3).unwrap();
        let classes = Classes::declared(["up", "do,wn"].into_iter().collect());
        let rows = RawRows::new(Dialect::arff(b',', vec![]).unwrap(), 3, 2).unwrap();
        let truths = vec![b",up\n".to_vec(), b",\"do,wn\"\n".to_vec()];
        let from = Mark { row: 0, end: 0, line: 0 };
        let mut sampling = Sampling::new(rows, classes, vec![0, 1], truths, kept, selection, b"", from).unwrap();
        let mut all = Chosen::default();
        let mut take = |chosen: &Chosen| {
            all.training.extend(&chosen.training);
            all.test.extend(&chosen.test);
            all.truth.extend(&chosen.truth);
        };
        text.chunks(cuts).for_each(|chunk| take(sampling.update(chunk).unwrap()));
        take(sampling.finish().unwrap());
        [all.training, all.test, all.truth].map(|bytes| String::from_utf8(bytes).unwrap())
    }

    const TEXT: &[u8] = b"1,a,up\r\n% note\n2,b,?\n\n3,c,up\n4,'d,e','do,wn',{2}";

    #[test]
    fn rows_are_copied_in_order_however_the_text_is_cut() {
        let whole = sampled(TEXT, None, 2, 1000);
        assert_eq!(whole[2], "");
        let mut rows: Vec<&str> = whole[0].lines().chain(whole[1].lines()).collect();
        rows.sort_unstable();
        assert_eq!(rows, ["1,a,up", "3,c,up", "4,'d,e','do,wn',{2}"]);
        for cuts in 1..20 {
            assert_eq!(sampled(TEXT, None, 2, cuts), whole);
        }
    }

    #[test]
    fn hidden_labels_are_question_marks_and_their_truth_is_kept() {
        let [_, test, truth] = sampled(TEXT, None, 0, 1000);
        assert!(test.lines().all(|row| row.ends_with(",?") || row.ends_with(",?,{2}")));
        assert_eq!(truth, "0,up\n1,\"do,wn\"\n");
    }

    #[test]
    fn only_kept_fields_remain() {
        let [training, test, _] = sampled(TEXT, Some(vec![false, true, true]), 0, 1000);
        assert!(["a,up\n", "c,up\n"].contains(&training.as_str()));
        assert!(test.ends_with("'d,e',?,{2}\n"));
    }
}
