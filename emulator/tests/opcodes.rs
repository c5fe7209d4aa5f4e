//! Every form of every instruction against what a real GPU answered.
//!
//! `tests/data/goldens/opcodes.txt` holds, for each form, the results of an NVIDIA GPU on edge-case inputs, recorded by
//! `tests/gpu/probe_opcodes.py`. Results must agree bit by bit, except for `.approx` and `.full`, which must agree
//! as closely as `close` says.

mod device;

use device::{Args, Buffer, Device};
use std::collections::HashMap;

const HEADER: &str = ".version 8.6\n.target sm_90\n.address_size 64\n";
const BLOCK: u32 = 128;

struct Recording {
    grids: HashMap<String, (u32, Vec<u64>)>,
    forms: Vec<Form>,
    warps: Vec<WarpForm>,
}

struct Form {
    width: u32,
    grids: Vec<String>,
    text: String,
    results: Vec<u64>,
}

struct WarpForm {
    threads: u32,
    text: String,
    results: Vec<u32>,
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn recording() -> Recording {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/goldens/opcodes.txt");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut recording = Recording { grids: HashMap::new(), forms: Vec::new(), warps: Vec::new() };
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    while let Some(line) = lines.next() {
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().unwrap_or_else(|| panic!("too short: {line}"));
        match word() {
            "grid" => {
                let (name, width) = (word(), word());
                let values = word().split(' ').map(hexadecimal).collect();
                recording.grids.insert(name.to_owned(), (width.parse().unwrap(), values));
            }
            "form" => {
                let (width, grids, text) = (word(), word(), word());
                let results = lines.next().unwrap();
                assert!(!results.starts_with("failed"), "{text} failed on the GPU: {results}");
                recording.forms.push(Form {
                    width: width.parse().unwrap(),
                    grids: grids.split(',').map(str::to_owned).collect(),
                    text: text.to_owned(),
                    results: results.split(' ').map(hexadecimal).collect(),
                });
            }
            "warp" => {
                let threads = word().parse().unwrap();
                let text = line.splitn(3, ' ').nth(2).unwrap().to_owned();
                let results = lines.next().unwrap();
                assert!(!results.starts_with("failed"), "{text} failed on the GPU: {results}");
                let results = results.split(' ').map(|value| hexadecimal(value) as u32).collect();
                recording.warps.push(WarpForm { threads, text, results });
            }
            other => panic!("no such record: {other}"),
        }
    }
    assert!(recording.forms.len() > 900 && recording.warps.len() > 350, "the recording is cut off");
    recording
}

/// PTX that runs a form once a thread: parameters are the output, up to three inputs, the number of threads.
fn module_of(form: &Form, grids: &HashMap<String, (u32, Vec<u64>)>) -> String {
    let width = form.width;
    let mut body = String::new();
    for (letter, grid) in ["a", "b", "c"].iter().zip(&form.grids) {
        let bits = grids[grid].0;
        body += &format!(
            ".reg .b{bits} %{letter}; ld.param.u64 %x0, [{letter}]; cvta.to.global.u64 %x0, %x0;
             mul.wide.u32 %y, %i, {}; add.u64 %x0, %x0, %y; ld.global.b{bits} %{letter}, [%x0];\n",
            bits / 8
        );
    }
    // The form on a line of its own, so that an error names it.
    let text = form.text.replace('$', "%");
    format!(
        "{HEADER}.visible .entry form(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
        {{
        .reg .pred %p, %q; .reg .b32 %i, %n, %t, %w0, %w1, %s; .reg .b64 %o, %x0, %x1, %y;
        .reg .b{width} %d;
        .shared .align 8 .b8 cells[1024];
        mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;
        ld.param.u32 %n, [n]; setp.ge.u32 %p, %i, %n; @%p ret;
        mov.u32 %s, cells; mad.lo.u32 %s, %t, 8, %s;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mul.wide.u32 %y, %i, {}; add.u64 %o, %o, %y;
        {body}
        {text}
        st.global.b{width} [%o], %d;
        ret;
        }}",
        width / 8
    )
}

fn warp_module_of(form: &WarpForm) -> String {
    format!(
        "{HEADER}.visible .entry form(.param .u64 out)
        {{
        .reg .pred %p, %q; .reg .b32 %l, %t, %a, %d, %e, %w0, %w1; .reg .b64 %o, %x0, %y;
        .shared .align 4 .b32 cell;
        mov.u32 %l, %laneid; mov.u32 %t, %tid.x; mad.lo.u32 %a, %l, 3, 100; mov.u32 %d, 0xdddddddd;
        mov.u32 %e, 0xeeeeeeee;
        setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [cell], 0; bar.sync 0;
        {}
        DONE:
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mul.wide.u32 %y, %t, 8; add.u64 %o, %o, %y;
        st.global.v2.b32 [%o], {{%d, %e}};
        ret;
        }}",
        form.text
    )
}

/// Every combination of the inputs' values, the first input varying slowest.
fn combinations(lists: &[&[u64]]) -> Vec<Vec<u64>> {
    let total: usize = lists.iter().map(|list| list.len()).product();
    let mut stride = total;
    lists
        .iter()
        .map(|list| {
            stride /= list.len();
            (0..total).map(|i| list[i / stride % list.len()]).collect()
        })
        .collect()
}

fn upload(device: &Device, width: u32, values: &[u64]) -> Buffer {
    match width {
        16 => device.buffer(&values.iter().map(|value| *value as u16).collect::<Vec<_>>()),
        32 => device.buffer(&values.iter().map(|value| *value as u32).collect::<Vec<_>>()),
        _ => device.buffer(values),
    }
}

fn download(buffer: &Buffer, width: u32) -> Vec<u64> {
    match width {
        16 => buffer.read::<u16>().into_iter().map(u64::from).collect(),
        32 => buffer.read::<u32>().into_iter().map(u64::from).collect(),
        _ => buffer.read::<u64>(),
    }
}

/// What a form gives here; an error says what the loader or the launch said.
fn run(form: &Form, grids: &HashMap<String, (u32, Vec<u64>)>) -> Result<(Vec<Vec<u64>>, Vec<u64>), String> {
    let device = Device::load(&module_of(form, grids)).map_err(|error| error.to_string())?;
    let lists: Vec<&[u64]> = form.grids.iter().map(|grid| grids[grid].1.as_slice()).collect();
    let inputs = combinations(&lists);
    let count = inputs[0].len();
    let out = upload(&device, form.width, &vec![0; count]);
    let mut args = Args::default().buffer(&out);
    let buffers: Vec<Buffer> =
        form.grids.iter().zip(&inputs).map(|(grid, column)| upload(&device, grids[grid].0, column)).collect();
    for i in 0..3 {
        args = args.push(buffers.get(i).map_or(0, Buffer::address));
    }
    let args = args.push(count as u32);
    device.launch("form", (count as u32).div_ceil(BLOCK), BLOCK, &args).map_err(|fault| fault.to_string())?;
    Ok((inputs, download(&out, form.width)))
}

fn ordered(bits: u32) -> i64 {
    let magnitude = i64::from(bits & 0x7fff_ffff);
    if bits >> 31 != 0 { -magnitude } else { magnitude }
}

/// Whether an approximate single precision result is close enough to the GPU's.
fn close(text: &str, input: f32, ours: u32, theirs: u32) -> bool {
    let (a, b) = (f32::from_bits(ours), f32::from_bits(theirs));
    if a.is_nan() || b.is_nan() || a.is_infinite() || b.is_infinite() {
        return ours == theirs || (a.is_nan() && b.is_nan());
    }
    if (ordered(ours) - ordered(theirs)).abs() <= 3 {
        return true;
    }
    match text.split('.').next() {
        // Hardware works in fixed point there: the error is absolute, and grows outside of -pi to pi.
        Some("sin" | "cos") => (a - b).abs() <= 5e-7 * input.abs().max(1.0),
        Some("lg2") => (a - b).abs() <= 3e-7,
        Some("tanh") => (a - b).abs() <= 6e-4 * b.abs(),
        _ => false,
    }
}

#[test]
fn forms_give_what_a_gpu_gives() {
    let recording = recording();
    let mut wrong = Vec::new();
    let mut refused = Vec::new();
    for form in &recording.forms {
        let (inputs, ours) = match run(form, &recording.grids) {
            Ok(outcome) => outcome,
            Err(message) => {
                refused.push(format!("{}: {message}", form.text));
                continue;
            }
        };
        let approximate = form.text.contains(".approx") || form.text.contains(".full");
        let differs = |i: &usize| {
            let (ours, theirs) = (ours[*i], form.results[*i]);
            let tolerated = approximate
                && match form.width {
                    16 => ours.abs_diff(theirs) <= 2,
                    32 => close(&form.text, f32::from_bits(inputs[0][*i] as u32), ours as u32, theirs as u32),
                    // With `.ftz`, results have 32 bits less.
                    _ => ours.abs_diff(theirs) <= if form.text.contains(".ftz") { 1 << 32 } else { 1 },
                };
            ours != theirs && !tolerated
        };
        let different: Vec<usize> = (0..ours.len()).filter(differs).collect();
        if let Some(first) = different.first() {
            let given: Vec<String> = inputs.iter().map(|column| format!("{:x}", column[*first])).collect();
            wrong.push(format!(
                "{}: {} of {} differ, first {}: ours {:x}, theirs {:x}",
                form.text,
                different.len(),
                ours.len(),
                given.join(" "),
                ours[*first],
                form.results[*first]
            ));
        }
    }
    assert!(
        wrong.is_empty() && refused.is_empty(),
        "{} wrong:\n{}\n{} refused:\n{}",
        wrong.len(),
        wrong.join("\n"),
        refused.len(),
        refused.join("\n")
    );
}

#[test]
fn warp_forms_give_what_a_gpu_gives() {
    let mut wrong = Vec::new();
    for form in &recording().warps {
        let outcome =
            Device::load(&warp_module_of(form)).map_err(|error| error.to_string()).and_then(|device| {
                let out = device.buffer(&vec![0u32; 2 * form.threads as usize]);
                let launched = device.launch("form", 1, form.threads, &Args::default().buffer(&out));
                launched.map(|_| out.read::<u32>()).map_err(|fault| fault.to_string())
            });
        match outcome {
            Ok(ours) if ours == form.results => {}
            Ok(ours) => {
                let first = (0..ours.len()).find(|i| ours[*i] != form.results[*i]).unwrap_or(0);
                wrong.push(format!(
                    "{}: thread {}, result {}: ours {:x}, theirs {:x}",
                    form.text,
                    first / 2,
                    first % 2,
                    ours[first],
                    form.results[first]
                ));
            }
            Err(message) => wrong.push(format!("{}: {message}", form.text)),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
