//! The report as JSON. `SCHEMA.md` next to this file describes each member; a test compares them.

use super::device::Device;
use super::needs::Need;
use super::probe::Probe;
use super::report::Report;
use super::smoke::Smoke;
use crate::json::Json;

/// Version of the schema: increased when a member changes or is removed, not when one is added.
const SCHEMA: u32 = 1;

pub(crate) fn json(report: &Report) -> Json {
    let answer = report.answer();
    let features = report.features().into_iter().map(|feature| {
        Json::Object(vec![
            ("name", feature.name.into()),
            ("has", feature.has.into()),
            ("since", feature.since.to_string().into()),
        ])
    });
    let variables = report.variables.iter().map(|variable| {
        Json::Object(vec![
            ("name", variable.name.into()),
            ("value", variable.value.clone().into()),
            ("effect", variable.effect.clone().into()),
        ])
    });
    Json::Object(vec![
        ("schema", SCHEMA.into()),
        ("ok", (answer.code == 0).into()),
        ("exit_code", u32::from(answer.code).into()),
        ("summary", answer.summary.into()),
        ("reasons", Json::list(answer.reasons)),
        ("driver", driver(report)),
        (
            "libraries",
            Json::List(
                report
                    .libraries
                    .iter()
                    .map(|(candidate, probe)| {
                        Json::Object(vec![
                            ("path", candidate.path.display().to_string().into()),
                            ("from", candidate.from.into()),
                            ("kind", probe.kind.word().into()),
                            ("cuda", probe.version.map(|version| version.to_string()).into()),
                            ("error", probe.error.clone().into()),
                        ])
                    })
                    .collect(),
            ),
        ),
        ("devices", Json::List(report.chosen.devices.iter().map(device).collect())),
        ("features", Json::List(features.collect())),
        ("smoke_test", Json::List(report.smoke.iter().map(smoke).collect())),
        ("needs", Json::List(report.needs.iter().map(need).collect())),
        ("compilers", compilers(report)),
        ("machine", machine(report)),
        ("variables", Json::List(variables.collect())),
    ])
}

fn driver(report: &Report) -> Json {
    let Probe { kind, error, origin, file, release, version, absent, init_code, .. } = &report.chosen;
    Json::Object(vec![
        ("kind", kind.word().into()),
        ("origin", origin.clone().into()),
        ("file", file.as_ref().map(|file| file.display().to_string()).into()),
        ("release", release.clone().into()),
        ("why", report.why.clone().into()),
        ("cuda", version.map(|version| version.to_string()).into()),
        ("absent_functions", Json::list(absent.iter().cloned())),
        ("init", init_code.clone().into()),
        ("error", error.clone().into()),
    ])
}

fn device(device: &Device) -> Json {
    let attributes = device.attributes.iter().map(|(attribute, value)| {
        let value = if attribute.unit == "?" { (*value != 0).into() } else { (*value).into() };
        (attribute.word, value)
    });
    Json::Object(vec![
        ("name", device.name.clone().into()),
        ("compute_capability", device.capability.map(|capability| capability.to_string()).into()),
        ("memory_bytes", device.memory.into()),
        ("pci", device.pci.clone().into()),
        ("uuid", device.uuid.clone().into()),
        ("error", device.error.clone().into()),
        ("attributes", Json::Object(attributes.collect())),
    ])
}

fn smoke(smoke: &Smoke) -> Json {
    Json::Object(vec![
        ("device", smoke.device.into()),
        ("ok", smoke.error.is_none().into()),
        ("error", smoke.error.clone().into()),
        ("free_bytes", smoke.free.into()),
        ("launch_us", smoke.launch.into()),
        ("to_device_gb_per_s", smoke.to_device.into()),
        ("to_host_gb_per_s", smoke.to_host.into()),
        ("on_device_gb_per_s", smoke.on_device.into()),
    ])
}

fn need(need: &Need) -> Json {
    Json::Object(vec![
        ("what", need.what.clone().into()),
        ("kind", need.kind.clone().into()),
        ("cuda", need.version.map(|version| version.to_string()).into()),
        ("code", need.code.clone().into()),
        ("functions", Json::list(need.functions.iter().cloned())),
        ("notes", Json::list(need.notes.iter().cloned())),
        ("missing", Json::list(need.missing.iter().cloned())),
        ("damaged", need.damaged.clone().into()),
    ])
}

fn compilers(report: &Report) -> Json {
    let (path, version, error) = match &report.nvrtc {
        Ok((path, version)) => (Some(path.clone()), Some(version.clone()), None),
        Err(error) => (None, None, Some(error.clone())),
    };
    let nvcc = report.nvcc.as_ref().map(|(path, version)| (path.display().to_string(), version.clone()));
    let (nvcc, release) = nvcc.unzip();
    Json::Object(vec![
        ("nvrtc_path", path.into()),
        ("nvrtc_version", version.into()),
        ("nvrtc_error", error.into()),
        ("nvcc_path", nvcc.into()),
        ("nvcc_version", release.flatten().into()),
    ])
}

fn machine(report: &Report) -> Json {
    let machine = &report.machine;
    Json::Object(vec![
        ("os", std::env::consts::OS.into()),
        ("arch", std::env::consts::ARCH.into()),
        ("wsl", machine.wsl.into()),
        ("container", machine.container.clone().into()),
        ("gpus", machine.gpus.into()),
        ("kernel_module", machine.kernel_module.clone().into()),
        ("nouveau", machine.nouveau.into()),
        ("nodes", Json::list(machine.nodes.iter().cloned())),
        ("forbidden_nodes", Json::list(machine.forbidden.iter().cloned())),
    ])
}
