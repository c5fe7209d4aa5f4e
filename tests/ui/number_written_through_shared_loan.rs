// An operation on numbers does not write through a loan to be read.
use cuprum::stream::{Operations, Scope};
use cuprum::memory::Slice;
use cuprum::MemoryError;

fn wrong<'scope>(scope: &Scope<'scope, '_>, memory: Slice<'scope, u32>) -> Result<(), MemoryError> {
    let lent = scope.lend(memory)?;
    let mut operations = Operations::default();
    operations.write(&lent, 0, 1)?;
    scope.operate(&mut operations)
}

fn main() {}
