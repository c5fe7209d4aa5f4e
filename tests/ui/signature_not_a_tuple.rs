// A signature is a tuple of parameters: plain data, or an address of device memory.
use cuprum::module::Function;
use cuprum::In;

fn wrong(function: Function<'_>) {
    let _ = function.bind::<In<f32>>();
    let _ = function.bind::<(u32, &[f32])>();
}

fn main() {}
