// A closure does not take the caller's token, nor what is lent, to the worker's thread.
use cuprum::{Current, Lent, Worker};

fn token(worker: &Worker, cx: &Current<'_, '_>) {
    worker.run(|_| cx.memory_info()).unwrap().unwrap();
}

fn lent(worker: &Worker, lent: Lent<'_, u8>) {
    worker.run(|_| lent.fill(0)).unwrap().unwrap();
}

fn main() {}
