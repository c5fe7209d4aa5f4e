// A kernel is foreign code, also if its arguments were compared.
use cuprum::region::{Arg, Queue, RegionError, SharedFunction};
use cuprum::{Current, LaunchConfig};

fn wrong(
    cx: &Current<'_, 'static>,
    queue: &Queue,
    function: &SharedFunction,
    arguments: &[Arg<'_>],
) -> Result<(), RegionError> {
    queue.launch(cx, function, LaunchConfig::new(1, 1), arguments, &[])
}

fn main() {}
