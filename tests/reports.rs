//! A program that only hands on its errors shows the mistake in a kernel. It is a process of its
//! own, because the test reads its standard error.

use cuprum_testing::itself;
use std::error::Error;

use cuprum::context::{ContextStack, PrimaryContext};
use cuprum::{Buffer, Driver, InOut, LaunchConfig, Module, Stream};

/// Stores after the end of its argument.
const PTX: &str = "\
.version 7.0
.target sm_50
.address_size 64
.visible .entry beyond(.param .u64 at)
{
\t.reg .u64 %at;
\t.reg .u32 %v;
\tld.param.u64 %at, [at];
\tmov.u32 %v, 7;
\tst.global.u32 [%at+64], %v;
\tret;
}
";

/// The program: no word of the emulator but the door through which it came.
#[test]
#[ignore = "it fails, as it should: the tests below start it"]
fn program() -> Result<(), Box<dyn Error>> {
    if std::env::var_os("CUPRUM_TEST_HOOK").is_some() {
        cuprum_emulator::set_message_hook(|message| println!("heard by the hook: {message}"));
    }
    let library = match std::env::var_os("CUPRUM_TEST_LIBRARY") {
        Some(_) => cuprum_emulator::library(),
        None => cuprum_emulator::open_driver_or_emulator()?.0,
    };
    let context = PrimaryContext::retain(Driver::init(library)?.device(0)?)?;
    let mut stack = ContextStack::take()?;
    let cx = stack.push(&context)?;
    let module = Module::load_ptx(&cx, PTX)?;
    let beyond = module.function("beyond")?.bind::<(InOut<u32>,)>()?;
    let mut memory = Buffer::<u32>::zeroed(&cx, 16)?;
    // SAFETY: none; the test shows this mistake, on a device that checks every access.
    unsafe { beyond.launch(&cx, &Stream::default_in(&cx), LaunchConfig::new(1, 1), (&mut memory,)) }?;
    cx.synchronize()?;
    Ok(())
}

/// Starts the program, and returns its standard output and standard error.
fn shown(variables: &[(&str, &str)]) -> (String, String) {
    let output = itself::itself()
        .args(["--exact", "program", "--ignored", "--nocapture"])
        .env("CUPRUM_DEVICE", "emulator")
        .env_remove("CUPRUM_EMULATOR_REPORTS")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(!output.status.success(), "the program fails");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn the_report_and_the_error_together_say_it_all() {
    for variables in [&[][..], &[("CUPRUM_TEST_LIBRARY", "1")]] {
        let (out, error) = shown(variables);
        for words in [
            "software CUDA device: out-of-bounds access in kernel `beyond`",
            "block (0,0,0), thread (0,0,0)",
            "PTX line 10: st.global.u32 [%at+64], %v;",
            "right past the end of allocation",
        ] {
            assert!(error.contains(words), "{words}: {error}");
        }
        // The error itself, as `main` would print it.
        let told = format!("{out}{error}");
        for words in
            ["cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)", "last_fault()", "standard error"]
        {
            assert!(told.contains(words), "{words}: {told}");
        }
    }
}

#[test]
fn it_is_silent_on_request_and_a_hook_takes_its_place() {
    let (out, error) = shown(&[("CUPRUM_EMULATOR_REPORTS", "0")]);
    assert!(!format!("{out}{error}").contains("out-of-bounds"), "{out}{error}");
    let (out, error) = shown(&[("CUPRUM_TEST_HOOK", "1")]);
    assert!(out.contains("heard by the hook: out-of-bounds access"), "{out}");
    assert!(!error.contains("software CUDA device:"), "{error}");
}
