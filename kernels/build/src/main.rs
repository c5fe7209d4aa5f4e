//! Compiles CUDA C sources to the PTX files committed in `kernels/`.
//!
//! `cuprum-kernels-build [--check] [--nvrtc LIBRARY] --arch compute_NN --into FOLDER SOURCE...`
//!
//! Each source becomes `FOLDER/NAME.ptx`. With `--check` nothing is written: the program fails when
//! a file on disk differs from the compiler's output now. The library is the one named, or the one
//! that `cuprum_compile` finds. `kernels/regenerate.sh` is the usual caller: it pins the compiler's
//! version, without which the text would differ.

mod artifact;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use cuprum_compile::nvrtc::Library;
use cuprum_compile::{Architecture, Compiler, Options, Source};

struct Arguments {
    check: bool,
    library: Option<PathBuf>,
    architecture: Architecture,
    folder: PathBuf,
    sources: Vec<PathBuf>,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut check = false;
    let (mut library, mut architecture, mut folder, mut sources) = (None, None, None, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--check" => check = true,
            "--nvrtc" => library = Some(value()?.into()),
            "--arch" => architecture = Some(value()?.parse().map_err(|error| format!("{error}"))?),
            "--into" => folder = Some(value()?.into()),
            flag if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
            source => sources.push(source.into()),
        }
    }
    Ok(Arguments {
        check,
        library,
        architecture: architecture.ok_or("--arch is missing")?,
        folder: folder.ok_or("--into is missing")?,
        sources,
    })
}

/// The committed text for `source`, a path relative to the repository: line information has the
/// same name.
fn generate(compiler: &Compiler, architecture: Architecture, source: &Path) -> Result<String, String> {
    let text = fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
    let name = source.to_str().ok_or("a path that is no UTF-8")?;
    let (mut options, mut shown) = (
        Options::new().architecture(architecture),
        vec![format!("--gpu-architecture=compute_{architecture}")],
    );
    for option in artifact::extra_options(&text) {
        options = options.option(option);
        shown.push(option.to_owned());
    }
    let compiled = compiler.compile(&Source::new(&text).named(name), &options);
    let compiled = compiled.map_err(|error| error.to_string())?;
    let ptx = compiled.ptx().ok_or("PTX that is no UTF-8")?;
    // The compiler puts the folder that it runs in before the name.
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let ptx = ptx.replace(&format!("\"{}/{name}\"", here.display()), &format!("\"{name}\""));
    Ok(artifact::with_header(name, &text, compiler.version(), &shown, &ptx))
}

/// The compiler that was named, or the one that is found.
fn compiler(named: Option<&Path>) -> Result<Compiler, String> {
    let Some(path) = named else { return Compiler::load().map_err(|error| error.to_string()) };
    // SAFETY: the user named this file as NVRTC.
    let library = unsafe { Library::open_from(path) };
    library.map(Compiler::with_nvrtc).map_err(|error| error.to_string())
}

/// Writes or checks every file; returns the ones that are not current.
fn run(arguments: &Arguments) -> Result<Vec<PathBuf>, String> {
    let compiler = compiler(arguments.library.as_deref())?;
    let mut stale = Vec::new();
    for source in &arguments.sources {
        let wanted = generate(&compiler, arguments.architecture, source)?;
        let name = source.with_extension("ptx");
        let target = arguments.folder.join(name.file_name().ok_or("a source without a name")?);
        if !arguments.check {
            fs::write(&target, wanted).map_err(|error| format!("{}: {error}", target.display()))?;
        } else if fs::read_to_string(&target).ok().as_deref() != Some(&wanted) {
            stale.push(target);
        }
    }
    Ok(stale)
}

fn main() -> ExitCode {
    match parse(env::args().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(stale) if stale.is_empty() => ExitCode::SUCCESS,
        Ok(stale) => {
            for file in stale {
                eprintln!("{} is not what its source compiles to: run kernels/regenerate.sh", file.display());
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
