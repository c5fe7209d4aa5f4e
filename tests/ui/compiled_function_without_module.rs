// A function of compiled code borrows its module as any other does.
use cuprum::Current;

fn use_after(cx: &Current<'_, '_>, source: &str) {
    let module = cuprum_compile::compile(cx, source).unwrap();
    let function = module.function("f").unwrap();
    drop(module);
    let _ = function.as_raw();
}

fn main() {}
