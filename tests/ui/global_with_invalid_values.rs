// The bytes of a global variable can have any value, so they are no `bool`, no `Option` and no
// `NonZero`.
use cuprum::Module;

fn wrong(module: &Module<'_>) {
    let _flags = module.global::<bool>("table");
    let _options = module.global::<Option<u32>>("table");
    let _numbers = module.global::<std::num::NonZeroU32>("table");
}

fn main() {}
