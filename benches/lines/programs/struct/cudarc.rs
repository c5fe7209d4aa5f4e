use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;

struct App {
    saxpy: CudaFunction,
    stream: Arc<CudaStream>,
    x: CudaSlice<f32>,
    y: CudaSlice<f32>,
}

impl App {
    fn new(x: &[f32]) -> Result<Self, DriverError> {
        let context = CudaContext::new(0)?;
        let ptx = Ptx::from_src(include_str!("../../../../kernels/saxpy.ptx"));
        let saxpy = context.load_module(ptx)?.load_function("saxpy")?;
        let stream = context.new_stream()?;
        let (x, y) = (stream.clone_htod(x)?, stream.alloc_zeros(x.len())?);
        Ok(Self {
            saxpy,
            stream,
            x,
            y,
        })
    }

    fn step(&mut self, alpha: f32) -> Result<Vec<f32>, DriverError> {
        let n = self.x.len() as u32;
        let mut launch = self.stream.launch_builder(&self.saxpy);
        launch.arg(&n).arg(&alpha).arg(&self.x).arg(&mut self.y);
        // SAFETY: saxpy touches n elements of each.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
        self.stream.clone_dtoh(&self.y)
    }
}

fn main() -> Result<(), DriverError> {
    let mut app = App::new(&[1.0, 2.0, 3.0])?;
    println!("{:?}", app.step(2.0)?);
    let thread = std::thread::spawn(move || app.step(1.0));
    println!("{:?}", thread.join().unwrap()?);
    Ok(())
}
