// Memory of a graph is not touched while the graph is lent to a scope.
use cuprum::graph::{GraphExec, Loan};
use cuprum::{Current, Stream};

fn wrong(cx: &Current<'_, '_>, stream: &Stream<'_>, exec: &mut GraphExec<'_>, output: Loan<[u32]>) {
    cx.scope(stream, |scope| {
        let graph = scope.lend_graph(exec).unwrap();
        println!("{:?}", exec.view(output));
        graph.launch().unwrap();
        Ok(())
    })
    .unwrap();
}

fn main() {}
