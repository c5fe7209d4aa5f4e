// What is submitted runs later: it owns what it uses, and so does its result.
use cuprum::{Buffer, Worker};

fn captured(worker: &Worker) {
    let host = vec![1u8; 16];
    let job = worker.submit(|cx| Buffer::from_slice(cx, &host)).unwrap();
    drop(host);
    job.wait().unwrap().unwrap();
}

fn main() {}
