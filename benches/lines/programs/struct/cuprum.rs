use cuprum::{Buffer, In, InOut, Kernel, LaunchConfig, Module, Stream};

type Error = Box<dyn std::error::Error + Send + Sync>;

struct App {
    saxpy: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
    stream: Stream<'static>,
    x: Buffer<'static, f32>,
    y: Buffer<'static, f32>,
}

impl App {
    fn new(x: &[f32]) -> Result<Self, Error> {
        let context = cuprum::open(0)?;
        context.enter_as(|cx| {
            let module = Module::load_ptx(cx, include_str!("../../../../kernels/saxpy.ptx"))?;
            let saxpy = module.share().kernel("saxpy")?;
            let (x, y) = (Buffer::from_slice(cx, x)?, Buffer::zeroed(cx, x.len())?);
            Ok(Self {
                saxpy,
                stream: Stream::new(cx)?,
                x,
                y,
            })
        })
    }

    fn step(&mut self, alpha: f32) -> Result<Vec<f32>, Error> {
        self.stream.context().enter_as(|cx| {
            let config = LaunchConfig::for_elements(self.x.len(), 256);
            let arguments = (self.x.len() as u32, alpha, &self.x, &mut self.y);
            // SAFETY: saxpy touches that many elements of each, and the copy waits for it.
            unsafe { self.saxpy.launch(cx, &self.stream, config, arguments) }?;
            Ok(self.y.to_vec(cx)?)
        })
    }
}

fn main() -> Result<(), Error> {
    let mut app = App::new(&[1.0, 2.0, 3.0])?;
    println!("{:?}", app.step(2.0)?);
    let thread = std::thread::spawn(move || app.step(1.0));
    println!("{:?}", thread.join().unwrap()?);
    Ok(())
}
