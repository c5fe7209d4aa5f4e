// Machine code is not checked: the program that loads it vouches for it.
use cuprum::module::LoadOptions;
use cuprum::{Current, Module};

fn wrong(cx: &Current<'_, '_>, image: &[u8]) {
    let _module = Module::load_binary(cx, image, &LoadOptions::default());
}

fn main() {}
