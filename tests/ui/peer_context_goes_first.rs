// A context whose memory another one can reach is not destroyed while it can.
use cuprum::context::{Context, ContextStack};

fn wrong(stack: &mut ContextStack, here: &Context, there: Context) {
    let cx = stack.push(here).unwrap();
    let access = cx.enable_peer_access(&there).unwrap();
    drop(there);
    access.close().unwrap();
}

fn main() {}
