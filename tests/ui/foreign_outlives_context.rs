// What is borrowed from other code ends before the context that it is used in.
use cuprum::sys::CUstream;
use cuprum::{Context, ForeignBuffer, ForeignStream};

fn stream(context: Context) {
    let stream = context.enter(|cx| unsafe { ForeignStream::from_raw(cx, CUstream::null()) });
    drop(context);
    drop(stream);
}

fn buffer(context: Context) {
    let buffer = context.enter(|cx| unsafe { ForeignBuffer::<u8>::from_raw(cx, 0, 16) });
    drop(context);
    drop(buffer);
}

fn main() {}
