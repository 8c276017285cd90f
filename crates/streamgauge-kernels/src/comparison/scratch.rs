//! The loops over rows, on scratch space for one chunk.

/// Rows in a chunk: the sums of all folds stay in the first-level cache.
pub(super) const CHUNK: usize = 2048;

/// Lanes of counts, which are bytes; a chunk cannot overflow them.
const LANES: usize = 32;
const _: () = assert!(CHUNK / LANES <= u8::MAX as usize && CHUNK * 255 * 255 <= u32::MAX as usize);

#[derive(Debug, Clone)]
pub(super) struct Scratch {
    length: usize,
    masked: bool,
    /// The scored rows that each learner got right in the current fold: [learners, rows].
    right: Vec<u8>,
    /// The same summed over folds: [learners, rows].
    sums: Vec<u8>,
    /// The number of folds that scored each row, if not all did: `[rows]`.
    n_folds: Vec<u8>,
    /// Rows sorted by the number of folds that scored them, and the start of each group.
    order: Vec<u16>,
    starts: Vec<usize>,
    /// `sums` in that order.
    sorted: Vec<u8>,
}

impl Scratch {
    pub(super) fn new(n_learners: usize) -> Self {
        Self {
            length: 0,
            masked: false,
            right: vec![0; n_learners * CHUNK],
            sums: vec![0; n_learners * CHUNK],
            n_folds: vec![0; CHUNK],
            order: vec![0; CHUNK],
            starts: Vec::new(),
            sorted: Vec::new(),
        }
    }

    pub(super) fn n_bytes(&self) -> usize {
        let bytes = self.right.capacity() + self.sums.capacity() + self.n_folds.capacity() + self.sorted.capacity();
        bytes + 2 * self.order.capacity() + size_of::<usize>() * self.starts.capacity()
    }

    /// Starts a chunk.
    #[inline(always)]
    pub(super) fn clear(&mut self, length: usize) {
        self.length = length;
        self.masked = false;
        self.sums.fill(0);
    }

    /// Records the rows that a fold scored; returns their number.
    #[inline(always)]
    pub(super) fn score(&mut self, mask: Option<&[bool]>) -> u64 {
        let Some(mask) = mask else { return self.length as u64 };
        let n_folds = &mut self.n_folds[..self.length];
        if !self.masked {
            n_folds.fill(0);
            self.masked = true;
        }
        for (n_folds, &scored) in n_folds.iter_mut().zip(mask) {
            *n_folds += u8::from(scored);
        }
        mask.iter().map(|&scored| u64::from(scored)).sum()
    }

    /// Records the rows that a learner got right in the current fold; returns their number.
    #[inline(always)]
    pub(super) fn add(&mut self, learner: usize, correct: &[bool], mask: Option<&[bool]>) -> u64 {
        let right = &mut self.right[learner * CHUNK..][..self.length];
        match mask {
            None => right.iter_mut().zip(correct).for_each(|(right, &correct)| *right = u8::from(correct)),
            Some(mask) => {
                for ((right, &correct), &scored) in right.iter_mut().zip(correct).zip(mask) {
                    *right = u8::from(correct & scored);
                }
            }
        }
        for (sum, &right) in self.sums[learner * CHUNK..][..self.length].iter_mut().zip(&*right) {
            *sum += right;
        }
        count_common(right, right)
    }

    /// Counts the rows that both learners got right in the current fold.
    #[inline(always)]
    pub(super) fn count_both(&self, first: usize, second: usize) -> u64 {
        let first = &self.right[first * CHUNK..][..self.length];
        let second = &self.right[second * CHUNK..][..self.length];
        count_common(first, second)
    }

    /// Groups the rows by the number of folds that scored them; returns the number of rows scored by any fold.
    #[inline(always)]
    pub(super) fn group_rows(&mut self, n_folds: usize) -> u64 {
        self.starts.clear();
        if !self.masked {
            self.starts.resize(n_folds + 1, 0);
            self.starts.push(self.length);
            return self.length as u64;
        }
        self.starts.resize(n_folds + 2, 0);
        let fold_counts = &self.n_folds[..self.length];
        for &n in fold_counts {
            self.starts[usize::from(n) + 1] += 1;
        }
        for n in 0..=n_folds {
            self.starts[n + 1] += self.starts[n];
        }
        let mut next = [0; 256];
        next[..=n_folds].copy_from_slice(&self.starts[..=n_folds]);
        for (row, &n) in fold_counts.iter().enumerate() {
            let position = &mut next[usize::from(n)];
            self.order[*position] = row as u16;
            *position += 1;
        }
        self.sorted.resize(self.sums.len(), 0);
        for (sorted, sums) in self.sorted.chunks_exact_mut(CHUNK).zip(self.sums.chunks_exact(CHUNK)) {
            for (sorted, &row) in sorted.iter_mut().zip(&self.order[..self.length]) {
                *sorted = sums[usize::from(row)];
            }
        }
        (self.length - self.starts[1]) as u64
    }

    /// Adds the squared differences of the sums of two learners, separately by the number of folds that scored the row.
    #[inline(always)]
    pub(super) fn add_squares(&self, first: usize, second: usize, squares: &mut [u64]) {
        let sums = if self.masked { &self.sorted } else { &self.sums };
        let (first, second) = (&sums[first * CHUNK..][..CHUNK], &sums[second * CHUNK..][..CHUNK]);
        for (squares, bounds) in squares.iter_mut().zip(self.starts[1..].windows(2)) {
            let pairs = first[bounds[0]..bounds[1]].iter().zip(&second[bounds[0]..bounds[1]]);
            let sum: u32 = pairs.map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2)).sum();
            *squares += u64::from(sum);
        }
    }
}

/// Counts the positions at which two columns of zeros and ones are both one.
#[inline(always)]
fn count_common(first: &[u8], second: &[u8]) -> u64 {
    let (first, first_rest) = first.as_chunks::<LANES>();
    let (second, second_rest) = second.as_chunks::<LANES>();
    let mut lanes = [0_u8; LANES];
    for (first, second) in first.iter().zip(second) {
        for ((sum, &a), &b) in lanes.iter_mut().zip(first).zip(second) {
            *sum += a & b;
        }
    }
    let rest: u64 = first_rest.iter().zip(second_rest).map(|(&a, &b)| u64::from(a & b)).sum();
    rest + lanes.iter().map(|&sum| u64::from(sum)).sum::<u64>()
}
