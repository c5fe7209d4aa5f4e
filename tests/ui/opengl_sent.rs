// An object registered from a context of OpenGL stays on its thread.
use cuprum::graphics::RegisteredBuffer;

fn wrong(vertices: RegisteredBuffer<'static>) {
    std::thread::spawn(move || drop(vertices));
}

fn main() {}
