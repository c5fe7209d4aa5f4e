// An object borrowed from other code is not destroyed through the borrow.
use cuprum::stream::{ForeignEvent, ForeignStream};

fn wrong(stream: ForeignStream<'_>, event: ForeignEvent<'_>) {
    stream.close().unwrap();
    let _ = event.into_raw();
}

fn main() {}
