// The token of a worker's thread leaves neither with the result nor by what the closure borrows.
use cuprum::{Current, Worker};

fn returned(worker: &Worker) {
    worker.run(|cx| cx).unwrap();
}

fn kept(worker: &Worker) {
    let mut token: Option<&mut Current<'_, 'static>> = None;
    worker.run(|cx| token = Some(cx)).unwrap();
}

fn main() {}
