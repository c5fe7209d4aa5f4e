// Only the crate defines memory that can be lent: other code would leave out the checks.
use cuprum::memory::SliceMut;
use cuprum::stream::{Lend, Scope};
use cuprum::{Buffer, MemoryError};

struct Unchecked<'a>(&'a mut Buffer<'static, u8>);

impl<'scope> Lend<'scope> for Unchecked<'scope> {
    type View = SliceMut<'scope, u8>;

    fn lend<K>(self, _: &Scope<'scope, '_>, _: K) -> Result<Self::View, MemoryError> {
        Ok(self.0.as_mut_slice())
    }
}

fn main() {}
