// An owner of a driver object has no copies: each would free the object.
use cuprum::context::{Context, PrimaryContext};
use cuprum::stream::Event;
use cuprum::{Buffer, Module, Stream};

fn needs_clone<T: Clone>(_: &T) {}

fn wrong(context: &Context, primary: &PrimaryContext, buffer: &Buffer<'_, f32>, stream: &Stream<'_>) {
    needs_clone(context);
    needs_clone(primary);
    needs_clone(buffer);
    needs_clone(stream);
}

fn also_wrong(event: &Event<'_>, module: &Module<'_>) {
    needs_clone(event);
    needs_clone(module);
}

fn main() {}
