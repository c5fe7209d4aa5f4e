//! An application that holds the thread's stack, and two libraries that know nothing of it and use
//! each other.

use cuprum::Driver;
use cuprum::context::{Context, ContextFlags, ContextStack};
use cuprum_test_album::brightened;

#[test]
fn two_libraries_work_under_an_application_that_holds_the_stack() {
    let device = Driver::init(cuprum_emulator::library()).unwrap().device(0).unwrap();
    let create = || Context::create(device, ContextFlags::empty()).unwrap();
    let (ours, pictures, tables) = (create(), create(), create());
    assert_eq!(brightened(&pictures, &tables, &[1, 2], 10).unwrap(), [11, 12]);
    let mut stack = ContextStack::take().unwrap();
    assert_eq!(brightened(&pictures, &tables, &[3, 250], 10).unwrap(), [13, 255]);
    for context in [&ours, &pictures, &tables] {
        let cx = stack.push(context).unwrap();
        assert_eq!(brightened(&pictures, &tables, &[5], 10).unwrap(), [15]);
        assert_eq!(brightened(&ours, &ours, &[6], 10).unwrap(), [16]);
        cx.memory_info().unwrap();
        cx.pop().unwrap();
    }
}
