//! `cuprum run`: findings in programs that go on, and the files of reports.

use super::folder;
use super::json::Json;
use super::run::{PROGRAM, program, ran_with, run};

/// The program looks at no code.
#[test]
fn misuse_of_the_api_names_its_line_once() {
    let ran = run(&[], &[&program(), "twice"]);
    assert_eq!(ran.code, Some(99), "{}", ran.error);
    let line = 1 + PROGRAM.lines().position(|line| line.ends_with("// here")).expect("the line");
    let frames: Vec<&str> = ran.error.lines().filter(|line| line.starts_with("  at ")).collect();
    let [call, main] = &frames[..] else { panic!("{}", ran.error) };
    assert!(
        call.ends_with(" in call") && main.ends_with(&format!("client.c:{line} in main")),
        "{}",
        ran.error
    );
    for words in
        ["misuse of cuMemFree, which answers CUDA_ERROR_INVALID_VALUE: 0x", "reported 1 misuse of the API\n"]
    {
        assert!(ran.error.contains(words), "{words}: {}", ran.error);
    }
    let off = ran_with(&[("CUPRUM_EMULATOR_APICHECK", "0")], &[], &[&program(), "twice"]);
    assert_eq!(off.code, Some(0), "{}", off.error);
}

#[test]
fn a_launch_goes_on_with_findings_unless_they_are_to_end_it() {
    let ran = run(&["--initcheck"], &[&program(), "unwritten"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(99), "done with unwritten\n"), "{}", ran.error);
    assert!(ran.error.contains("use of a register that nobody wrote in kernel `unwritten`"), "{}", ran.error);
    let ended = run(&["--initcheck", "--fail-fast"], &[&program(), "unwritten"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(6), ""), "{}", ended.error);
}

#[test]
fn reports_are_written_for_forges() {
    let path = folder("sarif").join("found.sarif");
    let file = path.to_str().expect("a path");
    let ran = run(&["--leakcheck", "--sarif", file], &[&program(), "leak"]);
    assert_eq!(ran.code, Some(99), "{}", ran.error);
    let log = Json::read(&std::fs::read_to_string(&path).expect("the file")).expect("JSON");
    assert_eq!(log.get("version").text(), "2.1.0");
    let [made] = log.get("runs").list() else { panic!("{log:?}") };
    let rules = made.get("tool").get("driver").get("rules").list();
    let [result] = made.get("results").list() else { panic!("{log:?}") };
    assert!(rules.iter().any(|rule| rule.get("id") == result.get("ruleId")), "{log:?}");
    assert_eq!((result.get("ruleId").text(), result.get("level").text()), ("leaks", "error"));
    let place = result.get("locations").list()[0].get("physicalLocation");
    let line = 1 + PROGRAM.lines().position(|line| line.contains("return function ?")).expect("the line");
    assert_eq!(place.get("region").get("startLine").number(), line as f64, "{log:?}");
    assert!(place.get("artifactLocation").get("uri").text().ends_with("/client.c"), "{log:?}");

    let nothing = run(&["--quiet", "--sarif", file], &[&program(), "well"]);
    assert_eq!((nothing.code, nothing.error.as_str()), (Some(0), ""));
    assert!(std::fs::read_to_string(&path).expect("the file").contains("\"results\": []"));
    let unwritten = run(&["--sarif", "/not/there"], &[&program(), "well"]);
    assert!(unwritten.code == Some(7) && unwritten.error.contains("/not/there: "), "{}", unwritten.error);
}
