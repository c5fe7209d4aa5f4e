// What is registered from a context of OpenGL stays on its thread, and so does a guard of it.
use cuprum::SharedContext;
use cuprum::graphics::{Mapped, RegisteredBuffer};

fn sent(vertices: RegisteredBuffer<'static>) {
    std::thread::spawn(move || drop(vertices));
}

fn shared(mapped: &Mapped<'_, &mut RegisteredBuffer<'_>>, context: &SharedContext) {
    std::thread::scope(|scope| {
        scope.spawn(|| println!("{mapped:?}, {context:?}"));
    });
}

fn main() {}
