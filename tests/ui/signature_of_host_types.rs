// A signature names the parameters of the kernel: the message says which type stands for memory,
// textures and structs.
use cuprum::Buffer;
use cuprum::module::Function;
use cuprum::texture::{Surface, Texture};

#[derive(Clone, Copy)]
struct Underived(u32);

fn wrong(function: fn() -> Function<'static>) {
    let _ = function().bind::<(Texture<'_>,)>();
    let _ = function().bind::<(&Surface<'_>,)>();
    let _ = function().bind::<(&mut [f32],)>();
    let _ = function().bind::<(u32, *const f32)>();
    let _ = function().bind::<(&Buffer<'_, f32>,)>();
    let _ = function().bind::<(Underived,)>();
}

fn main() {}
