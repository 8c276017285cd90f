//! The second pass: the text of the selected rows.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use super::{Assignment, DecimalCounter, Selection};
use crate::KernelError;
use crate::error::check_length;
use crate::text::{Classes, Line, Mark, RawLines, RawRows, TextError, field_range};

/// The rows selected from a chunk.
#[derive(Debug, Default)]
pub struct SampledRows {
    /// Rows of the training set.
    pub training: Vec<u8>,
    /// Rows of the test set.
    pub test: Vec<u8>,
    /// For each unlabelled row of the test set, its position there (from 0) and its true class.
    pub truth: Vec<u8>,
}

impl SampledRows {
    fn clear(&mut self) {
        self.training.clear();
        self.test.clear();
        self.truth.clear();
    }
}

/// A sampler that copies the selected rows of a text read in chunks.
pub struct Sampling {
    lines: RawLines,
    rows: RawRows,
    hash: Xxh3,
    copier: RowCopier,
}

struct RowCopier {
    classes: Classes,
    groups: Vec<usize>,
    kept_fields: Option<Vec<bool>>,
    selection: Selection,
    n_test: DecimalCounter,
    sampled: SampledRows,
    ends: Vec<usize>,
    /// Per class, the text after the position in a line of the truth.
    truths: Vec<Vec<u8>>,
}

impl Sampling {
    /// Creates a sampling of the rows after the header. `groups` holds the group of the selection for each class,
    /// `truths` the text after the position in a line of the truth, and `kept_fields` whether each field is kept (None:
    /// all).
    ///
    /// # Errors
    /// Returns [`KernelError::Shape`] if `groups` or `kept_fields` do not fit.
    pub fn new(
        rows: RawRows,
        classes: Classes,
        groups: Vec<usize>,
        truths: Vec<Vec<u8>>,
        kept_fields: Option<Vec<bool>>,
        selection: Selection,
        header: &[u8],
        from: Mark,
    ) -> Result<Self, KernelError> {
        check_length("groups", groups.len(), classes.names().len())?;
        if let Some(kept_fields) = &kept_fields {
            check_length("kept", kept_fields.len(), rows.n_fields())?;
        }
        check_length("truths", truths.len(), groups.len())?;
        let copier = RowCopier {
            truths,
            classes,
            groups,
            kept_fields,
            selection,
            n_test: DecimalCounter::default(),
            sampled: SampledRows::default(),
            ends: Vec::new(),
        };
        let mut hash = Xxh3::new();
        hash.update(header);
        Ok(Self { lines: RawLines::new(from), rows, hash, copier })
    }

    /// Selects from the rows of a chunk; the next call overwrites the result.
    ///
    /// # Errors
    /// Returns an error for an invalid row, or for more rows of a class than were counted.
    pub fn update(&mut self, chunk: &[u8]) -> Result<&SampledRows, KernelError> {
        self.hash.update(chunk);
        self.copier.sampled.clear();
        let Self { lines, rows, copier, .. } = self;
        lines.update(rows, chunk, |line, plain| copier.copy_if_selected(rows, &line, plain))?;
        Ok(&self.copier.sampled)
    }

    /// Selects from a last line without a line end, and checks that every row that was counted was seen.
    ///
    /// # Errors
    /// As for [`update`](Self::update), and [`KernelError::Counted`] if there were fewer rows.
    pub fn finish(&mut self) -> Result<&SampledRows, KernelError> {
        self.copier.sampled.clear();
        let Self { lines, rows, copier, .. } = self;
        lines.finish(rows, |line, plain| copier.copy_if_selected(rows, &line, plain))?;
        self.copier.selection.finish()?;
        Ok(&self.copier.sampled)
    }

    /// Returns a hash of all bytes.
    #[must_use]
    pub fn hash(&self) -> u128 {
        self.hash.digest128()
    }
}

impl RowCopier {
    #[inline(always)]
    fn copy_if_selected(&mut self, rows: &RawRows, line: &Line<'_>, plain: bool) -> Result<(), TextError> {
        let class = rows.find_class(line, plain, &mut self.classes, &mut self.ends)?;
        let group = class.code.map(|code| self.groups[code]);
        let in_line = |error: KernelError| TextError::in_line(line.number, error.to_string());
        let assignment = self.selection.next(group).map_err(in_line)?;
        if assignment == Assignment::Excluded {
            return Ok(());
        }
        if self.kept_fields.is_some() {
            rows.find_fields(line, &mut self.ends)?;
        }
        if let (Assignment::Unlabelled, Some(code)) = (assignment, class.code) {
            self.sampled.truth.extend_from_slice(self.n_test.digits());
            self.sampled.truth.extend_from_slice(&self.truths[code]);
        }
        let hidden = (assignment == Assignment::Unlabelled).then_some(class.range);
        if assignment == Assignment::Training {
            self.copy(rows, line.text, hidden, |sampled| &mut sampled.training);
        } else {
            self.n_test.increment();
            self.copy(rows, line.text, hidden, |sampled| &mut sampled.test);
        }
        Ok(())
    }

    /// Copies the kept fields of a row, with a hidden class as `?`.
    fn copy(
        &mut self,
        rows: &RawRows,
        row: &[u8],
        hidden: Option<Range<usize>>,
        output: impl Fn(&mut SampledRows) -> &mut Vec<u8>,
    ) {
        let text = output(&mut self.sampled);
        match &self.kept_fields {
            None => match hidden {
                None => text.extend_from_slice(row),
                Some(range) => {
                    text.extend_from_slice(&row[..range.start]);
                    text.push(b'?');
                    text.extend_from_slice(&row[range.end..]);
                }
            },
            Some(kept_fields) => {
                // A field after the declared ones is the weight of the row, which is kept.
                let indices = (0..self.ends.len()).filter(|&index| kept_fields.get(index).is_none_or(|&kept| kept));
                for (position, index) in indices.enumerate() {
                    if position > 0 {
                        text.push(rows.delimiter());
                    }
                    if hidden.is_some() && index == rows.class_field() {
                        text.push(b'?');
                    } else {
                        text.extend_from_slice(&row[rows.trim(row, field_range(&self.ends, index))]);
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

    fn sample(text: &[u8], kept_fields: Option<Vec<bool>>, labelled: u64, cuts: usize) -> [String; 3] {
        let groups = [Group { rows: 2, training: 1, test: 1 }, Group { rows: 1, training: 0, test: 1 }];
        let selection = Selection::new(&groups, labelled, 3);
        let classes = Classes::declared(["up", "do,wn"].into_iter().collect());
        let rows = RawRows::new(Dialect::arff(b',', vec![]).unwrap(), 3, 2).unwrap();
        let truths = vec![b",up\n".to_vec(), b",\"do,wn\"\n".to_vec()];
        let from = Mark { row: 0, end: 0, line: 0 };
        let mut sampling = Sampling::new(rows, classes, vec![0, 1], truths, kept_fields, selection, b"", from).unwrap();
        let mut all = SampledRows::default();
        let mut collect = |sampled: &SampledRows| {
            all.training.extend(&sampled.training);
            all.test.extend(&sampled.test);
            all.truth.extend(&sampled.truth);
        };
        text.chunks(cuts).for_each(|chunk| collect(sampling.update(chunk).unwrap()));
        collect(sampling.finish().unwrap());
        [all.training, all.test, all.truth].map(|bytes| String::from_utf8(bytes).unwrap())
    }

    const TEXT: &[u8] = b"1,a,up\r\n% note\n2,b,?\n\n3,c,up\n4,'d,e','do,wn',{2}";

    #[test]
    fn rows_are_copied_in_order_however_the_text_is_cut() {
        let whole = sample(TEXT, None, 2, 1000);
        assert_eq!(whole[2], "");
        let mut rows: Vec<&str> = whole[0].lines().chain(whole[1].lines()).collect();
        rows.sort_unstable();
        assert_eq!(rows, ["1,a,up", "3,c,up", "4,'d,e','do,wn',{2}"]);
        for cuts in 1..20 {
            assert_eq!(sample(TEXT, None, 2, cuts), whole);
        }
    }

    #[test]
    fn hidden_labels_are_question_marks_and_their_truth_is_kept() {
        let [_, test, truth] = sample(TEXT, None, 0, 1000);
        assert!(test.lines().all(|row| row.ends_with(",?") || row.ends_with(",?,{2}")));
        assert_eq!(truth, "0,up\n1,\"do,wn\"\n");
    }

    #[test]
    fn only_kept_fields_remain() {
        let [training, test, _] = sample(TEXT, Some(vec![false, true, true]), 0, 1000);
        assert!(["a,up\n", "c,up\n"].contains(&training.as_str()));
        assert!(test.ends_with("'d,e',?,{2}\n"));
    }
}
