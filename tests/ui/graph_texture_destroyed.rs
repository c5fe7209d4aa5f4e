// A texture or surface that a graph uses is not destroyed before the graph is dropped.
use cuprum::graph::{CaptureMode, GraphExec, Graph, Node};
use cuprum::texture::{Surface, SurfaceObject, Texture, TextureObject};
use cuprum::launch::Dim3;
use cuprum::{Current, Kernel, LaunchConfig, Stream};

const ONCE: Dim3 = Dim3 { x: 1, y: 1, z: 1 };
const ONE: LaunchConfig = LaunchConfig { grid: ONCE, block: ONCE, shared_bytes: 0 };

fn added<'a>(cx: &Current<'_, 'a>, read: &'a Kernel<'_, (TextureObject,)>, texture: Texture<'_>) {
    let mut graph = Graph::new(cx).unwrap();
    unsafe { graph.add_kernel(cx, &[], read, ONE, (&texture,)) }.unwrap();
    drop(texture);
    graph.close().unwrap();
}

fn captured<'a>(
    cx: &Current<'_, 'a>,
    stream: &mut Stream<'_>,
    read: &'a Kernel<'_, (TextureObject,)>,
    texture: Texture<'_>,
) {
    let launch = unsafe {
        cx.capture(stream, CaptureMode::Relaxed, |capture| capture.launch(read, ONE, (&texture,)))
    };
    let (graph, ()) = launch.unwrap();
    drop(texture);
    drop(graph);
}

fn changed<'a>(
    cx: &Current<'_, '_>,
    executable: &mut GraphExec<'a>,
    node: Node,
    write: &'a Kernel<'_, (SurfaceObject,)>,
    surface: Surface<'a>,
) {
    unsafe { executable.set(cx, node).kernel(write, ONE, (&surface,)) }.unwrap();
    drop(surface);
}

fn main() {}
