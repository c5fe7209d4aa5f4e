// The thread may outlive any borrow, so that the context of a worker is shared.
use cuprum::{Context, Worker};

fn wrong(context: &Context) {
    Worker::spawn(context).unwrap();
}

fn main() {}
