// Memory of a graph is not touched while the graph is lent to a replay.
use cuprum::graph::{Executable, HostLoan};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, executable: &mut Executable<'_>, output: HostLoan<u32>) {
    executable
        .replay(cx, stream, |replay| {
            replay.launch().unwrap();
            println!("{:?}", executable.host(output));
        })
        .unwrap();
}

fn main() {}
