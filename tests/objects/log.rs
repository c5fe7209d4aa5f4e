//! The driver's log.

use std::sync::{Arc, Mutex};

use cuprum::sys::{CUlogLevel, CUresult};

use crate::common::driver;

/// A call that fails: there are not so many devices.
fn fail() {
    assert_eq!(driver().device(9999).unwrap_err().code(), CUresult::CUDA_ERROR_INVALID_DEVICE);
}

#[test]
fn errors_are_explained_in_the_log() {
    let driver = driver();
    let mut position = driver.log_position().unwrap();
    fail();
    let text = driver.log_since(&mut position).unwrap();
    assert!(text.lines().any(|line| line.contains("cuDeviceGet")), "{text:?}");

    let path = std::env::temp_dir().join(format!("cuprum-log-{}", std::process::id()));
    fail();
    driver.log_to_file(Some(&mut position), &path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("cuDeviceGet"), "{text:?}");
    assert!(driver.log_to_file(None, std::path::Path::new("a\0b")).is_err());
}

#[test]
fn a_listener_hears_of_errors_until_it_is_dropped_and_may_panic() {
    let driver = driver();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (to, here) = (heard.clone(), std::thread::current().id());
    let listener = driver
        .on_log(move |level, text| {
            // Other tests fail on other threads.
            if std::thread::current().id() == here {
                to.lock().unwrap().push((level, text.to_owned()));
                std::panic::resume_unwind(Box::new("heard"));
            }
        })
        .unwrap();
    fail();
    listener.close().unwrap();
    fail();
    let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let of_device = heard.iter().filter(|(_, text)| text.contains("cuDeviceGet"));
    let levels: Vec<CUlogLevel> = of_device.map(|(level, _)| *level).collect();
    assert_eq!(levels, [CUlogLevel::CU_LOG_LEVEL_ERROR], "{heard:?}");
}
