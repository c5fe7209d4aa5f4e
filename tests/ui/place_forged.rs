// A place of copies is memory of this crate's kinds: code outside cannot forge one.
use cuprum::memory::{SliceMut, Source, Target};
use cuprum::{Buffer, Current};

struct Evil;

impl Target for Evil {
    type Element = u32;
    type Kind = <Buffer<'static, u32> as Target>::Kind;

    fn as_target(&mut self, _: cuprum::raw::seal::Key) -> SliceMut<'_, u32> {
        todo!()
    }
}

impl Source<u32> for Evil {
    type Kind = <Buffer<'static, u32> as Source<u32>>::Kind;
}

fn wrong(cx: &Current<'_, '_>) {
    cx.copy(&mut Evil, &[1]).unwrap();
}

fn main() {}
