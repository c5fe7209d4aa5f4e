// What `run` has borrowed is free when it returns, and not before: not within the closure.
use cuprum::Worker;

fn wrong(worker: &Worker) {
    let mut host = vec![1u8; 16];
    let view = &host;
    worker.run(|_| host.push(2)).unwrap();
    drop(view);
    println!("{view:?}");
}

fn main() {}
