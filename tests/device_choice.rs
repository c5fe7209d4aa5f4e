//! Choice of a device by the environment, which is per process: each test runs in children of its
//! own.

use child::in_children;
use cuprum::context::PrimaryContext;
use cuprum::device::{ChoiceError, Visibility};
use cuprum::sys::{CUresult, FnId};
use cuprum::{Device, Driver, Error};
use cuprum_testing::child;

const TWO: (&str, &str) = ("CUPRUM_EMULATOR_DEVICES", "2");

fn driver() -> Driver {
    Driver::init(cuprum_emulator::library()).unwrap()
}

fn refused() -> Error {
    Error::new(CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE, FnId::cuDevicePrimaryCtxRetain).unwrap()
}

#[test]
fn the_environment_names_a_device() {
    let environments: [&[_]; 4] =
        [&[TWO, ("CUDA_DEVICE", "1")], &[TWO, ("CUDA_DEVICE", " 0 ")], &[TWO, ("CUDA_DEVICE", "")], &[TWO]];
    in_children(concat!(module_path!(), "::the_environment_names_a_device"), &environments, || {
        let named =
            std::env::var("CUDA_DEVICE").ok().and_then(|value| value.trim().parse().ok()).unwrap_or(0);
        let context = driver().choose_device(PrimaryContext::retain).unwrap();
        assert_eq!(context.device(), driver().device(named).unwrap());
    });
}

#[test]
fn the_first_that_works_is_taken_and_one_that_is_named_stands_alone() {
    let environments: [&[_]; 2] = [&[TWO], &[TWO, ("CUDA_DEVICE", "0")]];
    let name = concat!(module_path!(), "::the_first_that_works_is_taken_and_one_that_is_named_stands_alone");
    in_children(name, &environments, || {
        let [first, second]: [Device; 2] = driver().devices().unwrap().try_into().unwrap();
        let mut tried = Vec::new();
        let chosen = driver().choose_device(|device| {
            tried.push(device);
            if device == first { Err(refused()) } else { Ok(device) }
        });
        if std::env::var_os("CUDA_DEVICE").is_none() {
            assert_eq!((chosen.unwrap(), tried), (second, vec![first, second]));
        } else {
            let expected = ChoiceError::NoneWorks {
                errors: vec![(0, refused())],
                visibility: Visibility { devices: None, order: None },
            };
            assert_eq!((chosen.unwrap_err(), tried), (expected, vec![first]));
        }
    });
}

#[test]
fn an_error_explains_why_a_device_is_hidden() {
    let cases: [(&[_], &[_]); 5] = [
        (&[TWO, ("CUDA_DEVICE", "one")], &["CUDA_DEVICE=one names no device: it is to be a number"]),
        (&[TWO, ("CUDA_DEVICE", "-1")], &["CUDA_DEVICE=-1 names no device: it is to be a number"]),
        (
            &[TWO, ("CUDA_DEVICE", "2")],
            &["the driver shows 2 of them", "CUDA_VISIBLE_DEVICES is not set", "fastest device is number 0"],
        ),
        (
            &[
                TWO,
                ("CUDA_DEVICE", "7"),
                ("CUDA_VISIBLE_DEVICES", "3,1"),
                ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
            ],
            &["CUDA_VISIBLE_DEVICES=3,1 hides all devices but these", "numbers are those of nvidia-smi"],
        ),
        (
            &[
                TWO,
                ("CUDA_DEVICE", "2"),
                ("CUDA_VISIBLE_DEVICES", ""),
                ("CUDA_DEVICE_ORDER", "FASTEST_FIRST"),
            ],
            &[
                "set to nothing, which hides all devices",
                "CUDA_DEVICE_ORDER=FASTEST_FIRST the fastest device is",
            ],
        ),
    ];
    let name = concat!(module_path!(), "::an_error_explains_why_a_device_is_hidden");
    let environments = cases.map(|(environment, _)| environment);
    in_children(name, &environments, || {
        let value = |name: &str| std::env::var(name).ok();
        let is_this = |environment: &[(&str, &str)]| {
            ["CUDA_DEVICE", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"].iter().all(|&name| {
                let set = environment.iter().find(|(set, _)| *set == name);
                set.map(|(_, value)| (*value).to_owned()) == value(name)
            })
        };
        let (_, words) =
            cases.iter().find(|(environment, _)| is_this(environment)).expect("one of the cases");
        let error = driver().choose_device(Ok).unwrap_err().to_string();
        assert!(words.iter().all(|words| error.contains(words)), "{error}");
    });
}

#[test]
fn all_errors_are_reported() {
    let name = concat!(module_path!(), "::all_errors_are_reported");
    in_children(name, &[&[TWO]], || {
        let error = driver().choose_device(|_| Err::<(), _>(refused())).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("device 0: ") && told.contains("device 1: "), "{told}");
        assert!(
            told.contains("CUDA_ERROR_DEVICE_UNAVAILABLE") && told.contains("CUDA_VISIBLE_DEVICES"),
            "{told}"
        );
    });
}
