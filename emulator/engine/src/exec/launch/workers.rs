//! Threads that help to run blocks, kept between launches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Task of helpers. Its argument is the number of the helper, from 1.
type Task<'t> = dyn Fn(usize) + Sync + 't;

/// A launch that helpers may join.
struct Job {
    /// Valid until `close` has returned.
    task: *const Task<'static>,
    joined: usize,
    most: usize,
    running: usize,
    failed: bool,
}

// SAFETY: the task is `Sync`, and `Help` keeps it alive until no helper runs it.
unsafe impl Send for Job {}

#[derive(Default)]
struct State {
    jobs: Vec<(usize, Job)>,
    threads: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    idle: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The main loop of a helper.
    fn help(&self) {
        let mut state = self.lock();
        loop {
            let open = state.jobs.iter_mut().find(|(_, job)| job.joined < job.most);
            let Some((id, job)) = open else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            job.joined += 1;
            job.running += 1;
            let (id, number, task) = (*id, job.joined, job.task);
            drop(state);
            // SAFETY: the job counts this helper, so `close` waits for it before the task is freed.
            let task = unsafe { &*task };
            let failed = catch_unwind(AssertUnwindSafe(|| task(number))).is_err();
            state = self.lock();
            if let Some((_, job)) = state.jobs.iter_mut().find(|(other, _)| *other == id) {
                job.running -= 1;
                job.failed |= failed;
            }
            self.idle.notify_all();
        }
    }
}

fn shared() -> &'static Arc<Shared> {
    static SHARED: OnceLock<Arc<Shared>> = OnceLock::new();
    SHARED.get_or_init(Arc::default)
}

/// Runs `task(0)` on this thread. Helpers also run it after [`Help::invite`]. Returns after all
/// have finished; false if a helper panicked.
pub(super) fn run(helpers: usize, task: &(dyn Fn(usize, &Help<'_>) + Sync)) -> bool {
    let no_more = Help { helpers: 0, task: None, invited: AtomicBool::new(true) };
    let as_helper = |number: usize| task(number, &no_more);
    let help = Help { helpers, task: Some(&as_helper), invited: AtomicBool::new(helpers == 0) };
    let guard = CloseOnUnwind(&help);
    task(0, &help);
    std::mem::forget(guard);
    help.close()
}

/// Invites helpers to a task.
pub(super) struct Help<'t> {
    helpers: usize,
    task: Option<&'t Task<'t>>,
    invited: AtomicBool,
}

impl Help<'_> {
    /// True if helpers can still be invited.
    pub(super) fn is_possible(&self) -> bool {
        !self.invited.load(Ordering::Relaxed)
    }

    /// Lets helpers join.
    pub(super) fn invite(&self) {
        if self.invited.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some(task) = self.task else { return };
        // SAFETY: only the lifetime changes. `run` borrows the task until it returns or unwinds;
        // before that, it closes the job and waits for its helpers.
        let task = unsafe { std::mem::transmute::<*const Task<'_>, *const Task<'static>>(task) };
        let shared = shared();
        let mut state = shared.lock();
        while state.threads < self.helpers {
            let worker = Arc::clone(shared);
            let name = format!("cuprum worker {}", state.threads + 1);
            if std::thread::Builder::new().name(name).spawn(move || worker.help()).is_err() {
                break;
            }
            state.threads += 1;
        }
        let id = self.id();
        state.jobs.push((id, Job { task, joined: 0, most: self.helpers, running: 0, failed: false }));
        drop(state);
        shared.work.notify_all();
    }

    /// Lets no more helpers join, and waits for the others. Returns false if one of them panicked.
    fn close(&self) -> bool {
        if self.helpers == 0 || self.is_possible() {
            return true;
        }
        let id = self.id();
        let shared = shared();
        let mut state = shared.lock();
        loop {
            let Some(at) = state.jobs.iter().position(|(other, _)| *other == id) else { return true };
            let job = &mut state.jobs[at].1;
            job.most = job.joined;
            if job.running == 0 {
                let (_, job) = state.jobs.swap_remove(at);
                return !job.failed;
            }
            state = shared.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Identifies this job among all running jobs by the address of one of its fields.
    fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// Waits for the helpers even if the task panics, because they use its borrows.
struct CloseOnUnwind<'h, 't>(&'h Help<'t>);

impl Drop for CloseOnUnwind<'_, '_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    #[test]
    fn helpers_join_when_invited_and_are_waited_for() {
        let (started, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        for _ in 0..20 {
            let (before, done) = (started.load(Ordering::SeqCst), ended.load(Ordering::SeqCst));
            assert_eq!(before, done);
            let good = run(2, &|number, help| {
                started.fetch_add(1, Ordering::SeqCst);
                if number == 0 {
                    help.invite();
                    let limit = Instant::now() + Duration::from_secs(20);
                    while started.load(Ordering::SeqCst) < before + 3 && Instant::now() < limit {
                        std::thread::yield_now();
                    }
                } else {
                    std::thread::sleep(Duration::from_millis(2));
                }
                ended.fetch_add(1, Ordering::SeqCst);
            });
            assert!(good);
            assert_eq!(started.load(Ordering::SeqCst), before + 3);
            assert_eq!(ended.load(Ordering::SeqCst), done + 3);
        }
    }

    #[test]
    fn a_panic_of_a_helper_is_told() {
        let joined = AtomicBool::new(false);
        let good = run(1, &|number, help| {
            if number == 0 {
                help.invite();
                let limit = Instant::now() + Duration::from_secs(20);
                while !joined.load(Ordering::SeqCst) && Instant::now() < limit {
                    std::thread::yield_now();
                }
            } else {
                joined.store(true, Ordering::SeqCst);
                panic!("on purpose");
            }
        });
        assert!(!good);
    }

    #[test]
    fn without_invitation_nobody_joins() {
        let calls = AtomicUsize::new(0);
        assert!(run(3, &|_, _| {
            calls.fetch_add(1, Ordering::SeqCst);
        }));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
}
