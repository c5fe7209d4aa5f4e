// A node copies from or to the device: not within the host, not to a loan to be read, not to other
// elements.
use cuprum::graph::{Capture, Graph, GraphExec, Loan, Node};
use cuprum::{Current, In, InOut};

fn added(cx: &Current<'_, '_>, graph: &mut Graph<'_>, one: Loan<[f32]>, other: Loan<[f32]>) {
    graph.add_copy(cx, &[], one, other).unwrap();
}

fn captured(capture: &Capture<'_, '_, '_>, one: Loan<[f32]>, other: Loan<[f32]>) {
    capture.copy(one, other).unwrap();
}

fn changed(cx: &Current<'_, '_>, exec: &mut GraphExec<'_>, node: Node, one: Loan<[f32]>, other: Loan<[f32]>) {
    exec.set(cx, node).copy(one, other).unwrap();
}

fn to_what_is_read(cx: &Current<'_, '_>, graph: &mut Graph<'_>, dst: Loan<In<f32>>, src: Loan<InOut<f32>>) {
    graph.add_copy(cx, &[], dst, src).unwrap();
}

fn of_other_elements(cx: &Current<'_, '_>, graph: &mut Graph<'_>, dst: Loan<InOut<f32>>, src: Loan<[u8]>) {
    graph.add_copy(cx, &[], dst, src).unwrap();
}

fn filled(cx: &Current<'_, '_>, graph: &mut Graph<'_>, memory: Loan<In<f32>>) {
    graph.add_fill(cx, &[], memory, 1.0).unwrap();
}

fn main() {}
