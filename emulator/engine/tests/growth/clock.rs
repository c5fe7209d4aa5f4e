//! The clock that these tests measure with.

use std::time::Duration;

use cuprum_testing::clock::Start;

#[test]
fn waiting_is_not_working() {
    let (start, wall) = (Start::now(), std::time::Instant::now());
    std::thread::sleep(Duration::from_millis(200));
    assert!(cfg!(not(target_os = "linux")) || start.elapsed() < Duration::from_millis(100));
    while start.elapsed() < Duration::from_millis(5) {}
    assert!(wall.elapsed() >= Duration::from_millis(205));
}
