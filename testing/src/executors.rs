//! Two small executors, as programs would write or take them: one blocks on a future, one runs many
//! on a thread.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

/// Wakes a thread that waits for its one future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks the thread until the future is ready.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, waker) = (pin!(future), Arc::new(Unpark(thread::current())).into());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Numbers of tasks that were woken, from whichever thread.
#[derive(Default)]
struct Woken {
    numbers: Mutex<VecDeque<usize>>,
    some: Condvar,
}

/// Wakes one task.
struct Alarm {
    number: usize,
    woken: Arc<Woken>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        let mut numbers = self.woken.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.push_back(self.number);
        self.woken.some.notify_one();
    }
}

/// One task, until it is done.
type Task<'a> = Option<Pin<Box<dyn Future<Output = ()> + 'a>>>;

/// Tasks that take turns on one thread: each is polled when it was woken.
#[derive(Default)]
pub struct Tasks<'a> {
    tasks: RefCell<Vec<Task<'a>>>,
    woken: Arc<Woken>,
}

impl<'a> Tasks<'a> {
    pub fn spawn(&self, task: impl Future<Output = ()> + 'a) {
        let mut tasks = self.tasks.borrow_mut();
        Arc::new(Alarm { number: tasks.len(), woken: Arc::clone(&self.woken) }).wake();
        tasks.push(Some(Box::pin(task)));
    }

    /// Runs all tasks to their end.
    pub fn run(&self) {
        let mut left = self.tasks.borrow().len();
        while left > 0 {
            let mut numbers = self.woken.numbers.lock().unwrap_or_else(PoisonError::into_inner);
            let number = loop {
                match numbers.pop_front() {
                    Some(number) => break number,
                    None => numbers = self.woken.some.wait(numbers).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(numbers);
            let waker = Arc::new(Alarm { number, woken: Arc::clone(&self.woken) }).into();
            let task = &mut self.tasks.borrow_mut()[number];
            let polled = task.as_mut().map(|task| task.as_mut().poll(&mut Context::from_waker(&waker)));
            if polled.is_some_and(|polled| polled.is_ready()) {
                *task = None;
                left -= 1;
            }
        }
    }
}
