// What is lent to be read is not written by an operation on numbers.
use cuprum::stream::{Operations, Scope};
use cuprum::{MemoryError, Slice};

fn wrong<'scope>(scope: &Scope<'scope, '_>, memory: Slice<'scope, u32>) -> Result<(), MemoryError> {
    let lent = scope.lend_shared(memory)?;
    let mut operations = Operations::new();
    operations.write(lent, 0, 1)?;
    scope.operate(&mut operations)
}

fn main() {}
