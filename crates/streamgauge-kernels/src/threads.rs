//! Threads that share the members of an ensemble, within the thread budget of a run.
//!
//! A run sets the budget of the threads that carry out its cells ([`set_budget`]). An ensemble that processes many rows
//! then takes threads that have nothing else to do ([`process_members`]). The budget decides when something is
//! computed, never what: the results of the members are combined in a fixed order.

use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, Scope, ScopedJoinHandle, ThreadId};
use std::time::Instant;

/// The fewest rows, summed over all members, that are worth a thread: starting one takes some ten microseconds.
const MIN_WORK: usize = 4_096;
/// The most results per thread that wait to be combined.
const MAX_WAITING: usize = 8;
/// As large as that of the main thread.
const STACK_BYTES: usize = 8 << 20;

thread_local! {
    static BUDGET: RefCell<Option<Arc<ThreadBudget>>> = const { RefCell::new(None) };
    static OWNER: Cell<Option<ThreadId>> = const { Cell::new(None) };
    static HELPED: Cell<u64> = const { Cell::new(0) };
}

/// The number of threads that may work at the same time, and how many do.
#[derive(Debug)]
pub struct ThreadBudget {
    n_threads: usize,
    /// The number of tasks that have begun or wait for a thread, and of helpers.
    n_used: AtomicUsize,
    /// Whether the CPU time of helpers is measured, which takes some ten microseconds.
    timed: bool,
}

impl ThreadBudget {
    /// Creates a budget that nothing uses; the CPU time of helpers is measured if `timed`. No threads means that none
    /// may help: the one that has the work does it alone.
    #[must_use]
    pub fn new(n_threads: usize, timed: bool) -> Self {
        Self { n_threads, n_used: AtomicUsize::new(0), timed }
    }

    /// Counts tasks that are about to run, each in one thread. Threads that they leave free may help.
    pub fn begin_tasks(&self, n: usize) {
        self.n_used.fetch_add(n, Ordering::Relaxed);
    }

    /// Counts the end of a task, or of a helper.
    pub fn end_task(&self) {
        self.n_used.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a helper, if there is a free thread; returns whether there is one.
    fn take(&self) -> bool {
        let add = |n: usize| (n < self.n_threads).then_some(n + 1);
        self.n_used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }
}

/// Sets the budget of the calling thread; `None` if it may take no other threads, as in the beginning.
pub fn set_budget(budget: Option<Arc<ThreadBudget>>) {
    BUDGET.set(budget);
}

/// Returns the thread on whose behalf the calling one works: itself, unless it helps another one.
#[must_use]
pub fn owner() -> ThreadId {
    OWNER.get().unwrap_or_else(|| thread::current().id())
}

/// Returns the nanoseconds of CPU time that helpers have worked for the calling thread so far, if they are timed.
#[must_use]
pub fn helped_nanoseconds() -> u64 {
    HELPED.get()
}

/// Returns whether it pays to share `n_members` members among threads for `n_rows` rows, if any thread is or becomes
/// free.
#[must_use]
pub fn is_worth_sharing(n_rows: usize, n_members: usize) -> bool {
    n_members > 1 && n_rows.saturating_mul(n_members) >= MIN_WORK && BUDGET.with_borrow(Option::is_some)
}

/// Access to the members while they may be in use.
pub trait Access<M> {
    /// Visits a member as soon as no block is processed with it.
    fn visit(&mut self, i: usize, visit: &mut dyn FnMut(&mut M));
}

/// All members, which no other thread uses.
struct Alone<'a, M>(&'a mut [M]);

impl<M> Access<M> for Alone<'_, M> {
    fn visit(&mut self, i: usize, visit: &mut dyn FnMut(&mut M)) {
        visit(&mut self.0[i]);
    }
}

impl<M> Access<M> for &[Mutex<&mut M>] {
    fn visit(&mut self, i: usize, visit: &mut dyn FnMut(&mut M)) {
        visit(&mut lock(&self[i]));
    }
}

/// Processes blocks of rows with every member, and combines the results.
///
/// `process(block, i, member, result)` is called once for each block and member: for each member in the order of the
/// blocks, but for several members at the same time if `shared`. `combine(block, i, result, members)` is called in the
/// order of the blocks, and of the members within a block; a result has the content that an earlier one left in it. A
/// member never is more than one block ahead of those combined.
pub fn process_members<M: Send, R: Default + Send>(
    members: &mut [M],
    n_blocks: usize,
    shared: bool,
    process: impl Fn(usize, usize, &mut M, &mut R) + Sync,
    mut combine: impl FnMut(usize, usize, &mut R, &mut dyn Access<M>) + Send,
) {
    let n_members = members.len();
    if let Some(budget) = BUDGET.with_borrow(Option::clone).filter(|_| shared) {
        let pipeline = Pipeline {
            members: members.iter_mut().map(Mutex::new).collect(),
            n_blocks,
            window: n_members.min(MAX_WAITING * budget.n_threads.max(1)),
            process,
            combine: Mutex::new(combine),
            queue: Mutex::new(Queue::new(n_members, n_blocks)),
            changed: Condvar::new(),
        };
        return pipeline.run(&budget);
    }
    let mut result = R::default();
    for block in 0..n_blocks {
        for i in 0..n_members {
            process(block, i, &mut members[i], &mut result);
            combine(block, i, &mut result, &mut Alone(members));
        }
    }
}

/// The work of several threads on members. An item is a block and a member; items are numbered block by block.
struct Pipeline<'a, M, R, P, C> {
    members: Vec<Mutex<&'a mut M>>,
    n_blocks: usize,
    /// The number of items from the first that is not combined that may begin; at most that of the members, so that
    /// the items of a member begin one after the other.
    window: usize,
    process: P,
    combine: Mutex<C>,
    queue: Mutex<Queue<R>>,
    changed: Condvar,
}

/// Which items have begun and ended.
struct Queue<R> {
    /// Per member, the number of its items that have begun, and the thread of the last one.
    begun: Vec<(usize, Option<usize>)>,
    /// The number of items that have not begun.
    n_left: usize,
    n_combined: usize,
    /// Whether a thread combines results.
    combines: bool,
    /// Whether a thread has panicked.
    broken: bool,
    /// The results that wait to be combined, with the numbers of their items.
    results: Vec<(usize, R)>,
    spare: Vec<R>,
}

impl<R> Queue<R> {
    fn new(n_members: usize, n_blocks: usize) -> Self {
        Self {
            begun: vec![(0, None); n_members],
            n_left: n_members * n_blocks,
            n_combined: 0,
            combines: false,
            broken: false,
            results: vec![],
            spare: vec![],
        }
    }

    /// Returns the first item before `end` that has not begun, if possible of a member that is in the cache of the
    /// thread, or in none.
    fn find_next(&self, thread: usize, n_blocks: usize, end: usize) -> Option<usize> {
        let n_members = self.begun.len();
        let items = self.begun.iter().enumerate().filter(|(_, (n_begun, _))| *n_begun < n_blocks);
        let items =
            items.map(|(i, (n_begun, last))| (last.is_some_and(|last| last != thread), n_begun * n_members + i));
        items.filter(|&(_, item)| item < end).min().map(|(_, item)| item)
    }
}

impl<M, R, P, C> Pipeline<'_, M, R, P, C>
where
    M: Send,
    R: Default + Send,
    P: Fn(usize, usize, &mut M, &mut R) + Sync,
    C: FnMut(usize, usize, &mut R, &mut dyn Access<M>) + Send,
{
    /// Runs all items in this thread and in those that are or become free.
    fn run(&self, budget: &Arc<ThreadBudget>) {
        thread::scope(|scope| {
            let mut helpers = vec![];
            loop {
                if helpers.len() + 1 < self.window && budget.take() {
                    helpers.extend(self.start_helper(scope, budget, helpers.len() + 1));
                }
                if !self.run_item(0) {
                    break;
                }
            }
            for helper in helpers {
                HELPED.set(HELPED.get() + helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
        });
    }

    /// Starts a helper, which returns the CPU time that it took; `None` if the system allows no more threads.
    fn start_helper<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        budget: &Arc<ThreadBudget>,
        number: usize,
    ) -> Option<ScopedJoinHandle<'s, u64>> {
        let (owner, budget) = (owner(), Busy(budget.clone()));
        let help = move || {
            let started = Instant::now();
            OWNER.set(Some(owner));
            set_budget(Some(budget.0.clone()));
            while self.run_item(number) {}
            HELPED.get() + if budget.0.timed { measure_cpu_time(started) } else { 0 }
        };
        Builder::new().name("streamgauge-helper".into()).stack_size(STACK_BYTES).spawn_scoped(scope, help).ok()
    }

    /// Runs the next item in a thread of a number; returns false if all have begun.
    fn run_item(&self, thread: usize) -> bool {
        let Some((item, mut result)) = self.begin_item(thread) else { return false };
        let _guard = BreakOnPanic(self);
        let (block, i) = (item / self.members.len(), item % self.members.len());
        (self.process)(block, i, &mut lock(&self.members[i]), &mut result);
        self.end_item(item, result);
        true
    }

    /// Waits for the next item that may begin; returns its number, and space for its result.
    fn begin_item(&self, thread: usize) -> Option<(usize, R)> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.n_left == 0 || queue.broken {
                return None;
            }
            if let Some(item) = queue.find_next(thread, self.n_blocks, queue.n_combined + self.window) {
                let begun = &mut queue.begun[item % self.members.len()];
                *begun = (begun.0 + 1, Some(thread));
                queue.n_left -= 1;
                return Some((item, queue.spare.pop().unwrap_or_default()));
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds the result of an item, and combines all results whose turn it is, unless another thread does.
    fn end_item(&self, item: usize, result: R) {
        let mut queue = lock(&self.queue);
        queue.results.push((item, result));
        if queue.combines {
            return;
        }
        queue.combines = true;
        while let Some(index) = queue.results.iter().position(|(item, _)| *item == queue.n_combined) {
            let (item, mut result) = queue.results.swap_remove(index);
            drop(queue);
            let (block, i) = (item / self.members.len(), item % self.members.len());
            lock(&self.combine)(block, i, &mut result, &mut self.members.as_slice());
            queue = lock(&self.queue);
            queue.n_combined += 1;
            queue.spare.push(result);
            self.changed.notify_all();
        }
        queue.combines = false;
    }
}

/// A helper's part of the budget, given back when it ends.
struct Busy(Arc<ThreadBudget>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.end_task();
    }
}

/// Stops the other threads if this one panics.
struct BreakOnPanic<'p, 'a, M, R, P, C>(&'p Pipeline<'a, M, R, P, C>);

impl<M, R, P, C> Drop for BreakOnPanic<'_, '_, M, R, P, C> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.queue).broken = true;
            self.0.changed.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the nanoseconds of CPU time that the calling thread has taken since it was started; where only unsafe code
/// can tell, those on the wall.
fn measure_cpu_time(started: Instant) -> u64 {
    thread::yield_now(); // brings the count up to date
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let count = text.split_whitespace().next().and_then(|count| count.parse().ok());
    count.unwrap_or_else(|| started.elapsed().as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Runs five members over blocks with a budget, and returns the order in which results were combined.
    fn run(
        budget: &Arc<ThreadBudget>,
        n_blocks: usize,
        process: impl Fn(usize, usize, &mut Vec<usize>) + Sync,
    ) -> Vec<usize> {
        set_budget(Some(budget.clone()));
        let (mut members, mut combined) = (vec![vec![]; 5], vec![]);
        process_members(
            &mut members,
            n_blocks,
            true,
            |block, i, member, result: &mut usize| {
                process(block, i, member);
                member.push(block);
                *result = 5 * block + i;
            },
            |block, i, result, _| {
                assert_eq!(*result, 5 * block + i);
                combined.push(*result);
            },
        );
        set_budget(None);
        assert!(members.iter().all(|blocks| blocks.iter().copied().eq(0..n_blocks)));
        combined
    }

    #[test]
    fn every_member_sees_the_blocks_in_order_and_results_are_combined_in_order() {
        for n_threads in [0, 1, 2, 3, 8] {
            let combined = run(&Arc::new(ThreadBudget::new(n_threads, true)), 200, |block, i, _| {
                // Some items take much longer than others.
                thread::sleep(Duration::from_micros(if (block + i) % 7 == 0 { 300 } else { 1 }));
            });
            assert!(combined.into_iter().eq(0..1_000));
        }
    }

    #[test]
    fn never_more_threads_work_than_the_budget_allows() {
        let (busy, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let budget = Arc::new(ThreadBudget::new(3, true));
        for (n_tasks, expected) in [(1, 3), (2, 2), (3, 1), (7, 1)] {
            budget.begin_tasks(n_tasks);
            most.store(0, Ordering::SeqCst);
            run(&budget, 20, |_, _, _| {
                most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(1));
                busy.fetch_sub(1, Ordering::SeqCst);
            });
            assert_eq!(most.load(Ordering::SeqCst), expected, "{n_tasks}");
            (0..n_tasks).for_each(|_| budget.end_task());
        }
    }

    #[test]
    fn a_thread_that_becomes_free_helps_at_once() {
        let (budget, helped) = (Arc::new(ThreadBudget::new(2, true)), AtomicUsize::new(0));
        let caller = thread::current().id();
        budget.begin_tasks(2);
        run(&budget, 20, |block, i, _| {
            if (block, i) == (5, 0) {
                budget.end_task();
            }
            assert_eq!(owner(), caller);
            helped.fetch_add(usize::from(thread::current().id() != caller), Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
        });
        assert!(helped.load(Ordering::SeqCst) > 10);
        assert!(helped_nanoseconds() > 0);
    }

    #[test]
    fn a_panic_in_any_thread_ends_all_of_them() {
        for failing in [0, 3, 500, 999] {
            let budget = Arc::new(ThreadBudget::new(3, true));
            let failed =
                std::panic::catch_unwind(|| run(&budget, 200, |block, i, _| assert_ne!(5 * block + i, failing)));
            assert!(failed.is_err());
            assert!(budget.take() && budget.take() && budget.take() && !budget.take());
        }
    }

    #[test]
    fn members_can_be_visited_while_others_are_at_work() {
        set_budget(Some(Arc::new(ThreadBudget::new(3, true))));
        let mut members = vec![0_u64; 5];
        process_members(
            &mut members,
            100,
            true,
            |_, _, member, (): &mut ()| *member += 1,
            |block, i, (), members| {
                members.visit(i, &mut |member| assert!((block as u64 + 1..=block as u64 + 2).contains(member)));
                members.visit((i + 1) % 5, &mut |member| assert!(*member <= block as u64 + 2));
            },
        );
        set_budget(None);
        assert_eq!(members, [100; 5]);
    }
}
