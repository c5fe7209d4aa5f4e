//! Kernels for recorded forms, as in `tests/gpu/forms.py` and `warp_forms.py`, and their launches.

use super::{Form, Recording, WarpForm};
use crate::device::{Args, Buffer, Device};
use cuprum_engine::exec::{ExecOptions, Execution};
use std::fmt::Write;

const HEADER: &str = ".version 8.8\n.target sm_90\n.address_size 64\n";
const BLOCK: u32 = 128;

impl Recording {
    /// Returns the results of a form, one per thread, or the error of the loader or the launch.
    pub(crate) fn run(&self, form: &Form, mode: Execution) -> Result<Vec<u64>, String> {
        let device = load(&self.kernel(form), mode)?;
        let columns = self.inputs(form);
        let count = columns[0].len();
        let out = upload(&device, form.width, &vec![0; count]);
        let inputs: Vec<Buffer> = form
            .grids
            .iter()
            .zip(&columns)
            .map(|(grid, column)| upload(&device, self.grids[grid].width, column))
            .collect();
        let mut args = Args::default().buffer(&out);
        for operand in 0..3 {
            args = args.push(inputs.get(operand).map_or(0, Buffer::address));
        }
        let args = args.push(count as u32);
        let blocks = (count as u32).div_ceil(BLOCK);
        device.launch("form", blocks, BLOCK, &args).map_err(|fault| fault.to_string())?;
        Ok(download(&out, form.width))
    }

    pub(crate) fn kernel(&self, form: &Form) -> String {
        let width = form.width;
        let mut inputs = String::new();
        for (letter, grid) in ["a", "b", "c"].iter().zip(&form.grids) {
            let bits = self.grids[grid].width;
            let bytes = bits / 8;
            let written = write!(
                inputs,
                ".reg .b{bits} %{letter};
                 ld.param.u64 %x0, [{letter}]; cvta.to.global.u64 %x0, %x0;
                 mul.wide.u32 %y, %i, {bytes}; add.u64 %x0, %x0, %y; ld.global.b{bits} %{letter}, [%x0];\n"
            );
            written.expect("a string takes any text");
        }
        let text = form.text.replace('$', "%");
        let bytes = width / 8;
        format!(
            "{HEADER}
            .visible .entry form(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
            {{
            .reg .pred %p, %q; .reg .b32 %i, %n, %t, %w0, %w1, %s; .reg .b64 %o, %x0, %x1, %y;
            .reg .b{width} %d;
            .shared .align 8 .b8 cells[1024];
            mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;
            ld.param.u32 %n, [n]; setp.ge.u32 %p, %i, %n; @%p ret;
            mov.u32 %s, cells; mad.lo.u32 %s, %t, 8, %s;
            ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mul.wide.u32 %y, %i, {bytes}; add.u64 %o, %o, %y;
            {inputs}
            {text}
            st.global.b{width} [%o], %d;
            ret;
            }}"
        )
    }
}

impl WarpForm {
    /// Returns the results, two per thread, or the error of the loader or the launch.
    pub(crate) fn run(&self, mode: Execution) -> Result<Vec<u64>, String> {
        self.run_with(ExecOptions { mode, ..ExecOptions::default() })
    }

    pub(crate) fn run_with(&self, options: ExecOptions) -> Result<Vec<u64>, String> {
        let mut device = Device::load(&self.kernel()).map_err(|error| error.to_string())?;
        device.options = options;
        let out = upload(&device, 32, &vec![0; 2 * self.threads as usize]);
        let args = Args::default().buffer(&out);
        device.launch("form", 1, self.threads, &args).map_err(|fault| fault.to_string())?;
        Ok(download(&out, 32))
    }

    pub(crate) fn kernel(&self) -> String {
        let WarpForm { text, directives, .. } = self;
        format!(
            "{HEADER}
            .visible .entry form(.param .u64 out) {directives}
            {{
            .reg .pred %p, %q; .reg .b32 %l, %t, %a, %d, %e, %w0, %w1; .reg .b64 %o, %x0, %y;
            .shared .align 4 .b32 cell;
            mov.u32 %l, %laneid; mov.u32 %t, %tid.x; mad.lo.u32 %a, %l, 3, 100;
            mov.u32 %d, 0xdddddddd; mov.u32 %e, 0xeeeeeeee;
            setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [cell], 0; bar.sync 0;
            {text}
            DONE:
            ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mul.wide.u32 %y, %t, 8; add.u64 %o, %o, %y;
            st.global.v2.b32 [%o], {{%d, %e}};
            ret;
            }}"
        )
    }
}

fn load(ptx: &str, mode: Execution) -> Result<Device, String> {
    let mut device = Device::load(ptx).map_err(|error| error.to_string())?;
    device.options.mode = mode;
    Ok(device)
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
