// A scope and its loans stay on their thread: another one could use them after the wait.
use cuprum::memory::SliceMut;
use cuprum::stream::{Lent, Scope};

fn needs_send<T: Send>(_: T) {}
fn needs_sync<T: Sync>(_: &T) {}

fn wrong<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, lent: Lent<'scope, SliceMut<'scope, f32>>) {
    needs_sync(scope);
    needs_sync(&lent);
    needs_send(lent);
}

fn main() {}
