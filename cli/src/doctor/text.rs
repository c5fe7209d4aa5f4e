//! The report for users: the verdict first.

use std::fmt::{self, Write};

use cuprum::sys::FnId;

use super::device::Device;
use super::probe::Kind;
use super::report::Report;
use crate::terminal::Shown;

/// The report as text; with `all`, including unremarkable results.
pub(crate) struct Text<'a> {
    pub(crate) report: &'a Report,
    pub(crate) all: bool,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answer = self.report.answer();
        writeln!(f, "{}.", Shown(answer.summary))?;
        for reason in &answer.reasons {
            writeln!(f, "  - {}", Shown(reason))?;
        }
        self.driver(f)?;
        self.devices(f)?;
        self.features(f)?;
        self.needs(f)?;
        self.machine(f)?;
        self.variables(f)
    }
}

impl Text<'_> {
    fn driver(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { chosen, libraries, why, nvrtc, nvcc, machine, .. } = self.report;
        f.write_str("\nDriver\n")?;
        match &chosen.origin {
            Some(origin) => {
                let file = chosen.file.as_ref().map(|file| file.display().to_string());
                let file =
                    file.filter(|file| file != origin).map_or_else(String::new, |file| format!(" ({file})"));
                let release =
                    chosen.release.as_ref().map_or_else(String::new, |release| format!(" {release}"));
                let version = chosen.version.map_or_else(String::new, |version| version.to_string());
                writeln!(f, "  chosen: {}: {}", Shown(format!("{origin}{file}")), Shown(why))?;
                writeln!(
                    f,
                    "  {} driver{release} of CUDA {version}, which lacks {} of {} functions",
                    chosen.kind.word(),
                    chosen.absent.len(),
                    FnId::ALL.len()
                )?;
            }
            None => f.write_str("  chosen: none\n")?,
        }
        for (candidate, probe) in libraries {
            let path = Shown(candidate.path.display());
            write!(f, "  found: {path} ({}): {}", candidate.from, probe.kind.word())?;
            if let Some(version) = probe.version {
                write!(f, ", CUDA {version}")?;
            }
            match (&probe.error, probe.kind) {
                (_, Kind::Stub) => writeln!(f, ", to link against and nothing else")?,
                (Some(error), _) => writeln!(f, ": {}", Shown(error))?,
                _ => writeln!(f)?,
            }
        }
        match &machine.kernel_module {
            Some(version) => writeln!(f, "  kernel module: {version}")?,
            None => writeln!(
                f,
                "  kernel module: not loaded{}",
                if machine.nouveau { ", but nouveau" } else { "" }
            )?,
        }
        match nvrtc {
            Ok((path, version)) => writeln!(f, "  NVRTC: {version}, {}", Shown(path))?,
            Err(error) if self.all => writeln!(f, "  NVRTC: {}", Shown(error))?,
            Err(_) => writeln!(
                f,
                "  NVRTC: not found (pip install nvidia-cuda-nvrtc; needed for CUDA C++ at run time alone)"
            )?,
        }
        match nvcc {
            Some((path, version)) => {
                let version = version.as_deref().unwrap_or("unknown");
                writeln!(f, "  nvcc: {}, {}", Shown(version), Shown(path.display()))
            }
            None => writeln!(f, "  nvcc: not found (not needed to run programs)"),
        }
    }

    fn devices(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, device) in self.report.chosen.devices.iter().enumerate() {
            write!(f, "\nDevice {number}: {}\n", Shown(&device.name))?;
            if let Some(error) = &device.error {
                writeln!(f, "  {}", Shown(error))?;
            }
            self.properties(f, device)?;
            let Some(smoke) = self.report.smoke.iter().find(|smoke| smoke.device == number) else { continue };
            match &smoke.error {
                Some(error) => writeln!(f, "  smoke test: failed at {}", Shown(error))?,
                None => writeln!(f, "  smoke test: passed{}", Speeds(smoke))?,
            }
        }
        Ok(())
    }

    fn properties(&self, f: &mut fmt::Formatter<'_>, device: &Device) -> fmt::Result {
        if let Some(capability) = device.capability {
            write!(f, "  compute capability {capability}")?;
        }
        if let Some(memory) = device.memory {
            write!(f, ", {} MiB of memory", memory >> 20)?;
        }
        if let Some(count) = device.attribute("multiprocessors") {
            write!(f, ", {count} multiprocessors")?;
        }
        f.write_char('\n')?;
        for (label, text) in [("PCI address", &device.pci), ("UUID", &device.uuid)] {
            if let Some(text) = text {
                writeln!(f, "  {label}: {}", Shown(text))?;
            }
        }
        if !self.all {
            return Ok(());
        }
        for (attribute, value) in &device.attributes {
            let text = match (attribute.unit, value) {
                ("?", 0) => "no".to_owned(),
                ("?", _) => "yes".to_owned(),
                (unit, value) => format!("{value} {unit}").trim_end().to_owned(),
            };
            writeln!(f, "  {}: {text}", attribute.label)?;
        }
        Ok(())
    }

    fn features(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let features = self.report.features();
        let Some(version) = self.report.chosen.version.filter(|_| !features.is_empty()) else {
            return Ok(());
        };
        let lacking: Vec<_> = features.iter().filter(|feature| !feature.has).collect();
        writeln!(f, "\nFeatures of this driver: {} of {}", features.len() - lacking.len(), features.len())?;
        for feature in features.iter().filter(|feature| self.all && feature.has) {
            writeln!(f, "  has {} (CUDA {})", feature.name, feature.since)?;
        }
        for feature in &lacking {
            let why = if feature.since > version { "" } else { ", although its version should have it" };
            writeln!(f, "  lacks {} (CUDA {}){why}", feature.name, feature.since)?;
        }
        Ok(())
    }

    fn needs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for need in &self.report.needs {
            write!(f, "\n{}: {}", Shown(&need.what), need.kind)?;
            if let Some(version) = need.version {
                write!(f, ", of CUDA {version}")?;
            }
            f.write_char('\n')?;
            if let Some(code) = &need.code {
                writeln!(f, "  code: {code}")?;
            }
            if !need.functions.is_empty() {
                writeln!(f, "  driver functions: {}", need.functions.len())?;
            }
            for note in &need.notes {
                writeln!(f, "  note: {}", Shown(note))?;
            }
            if let Some(why) = &need.damaged {
                writeln!(f, "  DAMAGED: {}", Shown(why))?;
            }
            for missing in &need.missing {
                writeln!(f, "  MISSING: {}", Shown(missing))?;
            }
            if need.missing.is_empty() && need.damaged.is_none() {
                let chosen = &self.report.chosen;
                let text = match (chosen.version, &need.code) {
                    (None, _) => "not compared: there is no driver",
                    (_, Some(_)) if chosen.devices.is_empty() => {
                        "the driver is new enough; there is no device to run it"
                    }
                    _ => "nothing is missing here",
                };
                writeln!(f, "  {text}")?;
            }
        }
        Ok(())
    }

    fn machine(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = &self.report.machine;
        write!(f, "\nMachine: {} {}", std::env::consts::OS, std::env::consts::ARCH)?;
        if machine.wsl {
            f.write_str(", WSL")?;
        }
        if let Some(kind) = &machine.container {
            write!(f, ", in a container ({kind})")?;
        }
        f.write_char('\n')?;
        if let Some(gpus) = machine.gpus {
            writeln!(f, "  NVIDIA GPUs on the PCI bus: {gpus}")?;
        }
        let nodes = if machine.nodes.is_empty() { "none".to_owned() } else { machine.nodes.join(" ") };
        writeln!(f, "  device nodes: {nodes}")?;
        if !machine.forbidden.is_empty() {
            writeln!(f, "  not permitted for this user: {}", machine.forbidden.join(" "))?;
        }
        Ok(())
    }

    fn variables(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.report.variables.is_empty() {
            return f.write_str("\nVariables: none is set that changes what CUDA does\n");
        }
        f.write_str("\nVariables\n")?;
        for variable in &self.report.variables {
            writeln!(f, "  {}={}: {}", variable.name, Shown(&variable.value), Shown(&variable.effect))?;
        }
        Ok(())
    }
}

struct Speeds<'a>(&'a super::smoke::Smoke);

impl fmt::Display for Speeds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let smoke = self.0;
        if let Some(launch) = smoke.launch {
            write!(f, "; a launch with its wait takes {launch:.1} us")?;
        }
        for (what, speed) in [
            ("to the device", smoke.to_device),
            ("to the host", smoke.to_host),
            ("on the device", smoke.on_device),
        ] {
            if let Some(speed) = speed {
                write!(f, ", {what} {speed:.1} GB/s")?;
            }
        }
        Ok(())
    }
}
