//! Data-parallel training: each device computes the gradient over its half of the samples, NCCL
//! adds the two, and both devices make the same step. The losses equal the losses of one device
//! that takes the halves one after the other.
//!
//! ```text
//! cargo run --release -p cuprum-nccl --example train
//! ```
//!
//! NCCL is found as in the example `all_reduce`, which shows several processes, too.

use std::error::Error;
use std::f32::consts::TAU;
use std::process::ExitCode;

use cuprum::context::PrimaryContext;
use cuprum::{Buffer, ContextRef, Current, Driver, In, InOut, Kernel, LaunchConfig, Module, Shared, Stream};
use cuprum_emulator::Choice;
use cuprum_nccl::{Communicator, Nccl, Reduction};

const WEIGHTS: usize = 65;
const HALF: usize = 64;
const STEPS: usize = 100;
const RATE: f32 = 0.002;
const CANNOT_RUN: u8 = 77;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Half of the samples: points, and whether they are within a circle.
struct Samples {
    points: Vec<f32>,
    targets: Vec<f32>,
}

fn samples(half: usize) -> Samples {
    // Points on a spiral: the halves take turns.
    let place = |sample: usize| (2 * sample + half) as f32 / (2 * HALF) as f32;
    let polar = |at: f32| [at * (9.0 * TAU * at).cos(), at * (9.0 * TAU * at).sin()];
    let points = (0..HALF).flat_map(|sample| polar(place(sample))).collect();
    let targets = (0..HALF).map(|sample| if place(sample) < 0.6 { 1.0 } else { -1.0 }).collect();
    Samples { points, targets }
}

fn first_weights() -> Vec<f32> {
    (0..WEIGHTS).map(|weight| 0.5 * (weight as f32 * 12.9898).sin()).collect()
}

type Gradient = (u32, In<f32>, In<f32>, In<f32>, InOut<f32>);

/// The kernels of `kernels/train.cu`, and the addition of `kernels/saxpy.cu`.
struct Kernels {
    gradient: Kernel<'static, Gradient>,
    descend: Kernel<'static, (f32, In<f32>, InOut<f32>)>,
    add: Kernel<'static, (u32, f32, In<f32>, InOut<f32>)>,
}

impl Kernels {
    fn load(cx: &Current<'_, 'static>) -> Result<Self> {
        let train = Module::load_ptx(cx, include_str!("../../kernels/train.ptx"))?.share();
        let saxpy = Module::load_ptx(cx, include_str!("../../kernels/saxpy.ptx"))?.share();
        Ok(Self {
            gradient: train.kernel("gradient")?,
            descend: train.kernel("descend")?,
            add: saxpy.kernel("saxpy")?,
        })
    }
}

/// Trains on `halves`, one after the other in each step. With a communicator, adds the sums of the
/// other members. Returns the loss of each step.
fn train(context: &Shared<ContextRef>, halves: &[usize], member: Option<&Communicator>) -> Result<Vec<f32>> {
    Ok(context.enter(|cx| {
        let (kernels, stream) = (Kernels::load(cx)?, Stream::new(cx)?);
        let mut weights = Buffer::from_slice(cx, &first_weights())?;
        let mut parts = Vec::new();
        for half in halves {
            let Samples { points, targets } = samples(*half);
            let sums = Buffer::<f32>::zeroed(cx, WEIGHTS + 1)?;
            parts.push((Buffer::from_slice(cx, &points)?, Buffer::from_slice(cx, &targets)?, sums));
        }
        let block = LaunchConfig::new(1, 96);
        let mut losses = Vec::new();
        for _ in 0..STEPS {
            let mut sums = [0.0; WEIGHTS + 1];
            cx.scope_as(&stream, |scope| -> Result<()> {
                let weights = scope.lend(&mut weights)?;
                let mut total = None;
                for (points, targets, sums) in &mut parts {
                    let (points, targets, sums) =
                        (scope.lend(&*points)?, scope.lend(&*targets)?, scope.lend(sums)?);
                    let samples = (HALF as u32, &weights, &points, &targets, &sums);
                    // SAFETY: gradient reads 65 weights and HALF samples, and writes 66 sums.
                    unsafe { kernels.gradient.launch(cx, &stream, block, samples) }?;
                    let Some(total) = &total else {
                        total = Some(sums);
                        continue;
                    };
                    // SAFETY: saxpy touches 66 elements of each.
                    unsafe {
                        kernels.add.launch(cx, &stream, block, (WEIGHTS as u32 + 1, 1.0, &sums, total))
                    }?;
                }
                let total = total.ok_or("no samples")?;
                if let Some(member) = member {
                    member.all_reduce(scope, &total, &total, Reduction::Sum)?;
                }
                // SAFETY: descend reads 65 sums, and changes 65 weights.
                unsafe { kernels.descend.launch(cx, &stream, block, (RATE, &total, &weights)) }?;
                Ok(scope.read(&mut sums, &total)?)
            })?;
            losses.push(sums[WEIGHTS]);
        }
        Ok(losses)
    })?)
}

fn main() -> Result<ExitCode> {
    cuprum_emulator::Settings::from_env()?.devices(2).install()?;
    let (library, choice) = cuprum_emulator::open_driver_or_emulator()?;
    let driver = Driver::init(library)?;
    println!("{choice}");
    let nccl = match &choice {
        Choice::Gpu { .. } => match Nccl::open() {
            Ok(nccl) if driver.devices()?.len() > 1 => nccl,
            Ok(_) => {
                println!("this example needs two devices");
                return Ok(ExitCode::from(CANNOT_RUN));
            }
            Err(error) => {
                println!("{error}");
                return Ok(ExitCode::from(CANNOT_RUN));
            }
        },
        _ => cuprum_nccl_stand_in::nccl!(library),
    };
    let device = |ordinal| {
        Ok::<_, Box<dyn Error + Send + Sync>>(PrimaryContext::retain(driver.device(ordinal)?)?.share())
    };
    let contexts = [device(0)?, device(1)?];
    let alone = train(&contexts[0], &[0, 1], None)?;
    let members = Communicator::init_all(nccl, &contexts)?;
    let [first, second] = std::thread::scope(|scope| {
        let train = |half: usize| train(&contexts[half], &[half], Some(&members[half]));
        let other = scope.spawn(move || train(1));
        [train(0), other.join().unwrap_or_else(|_| Err("a panic".into()))]
    });
    let (first, second) = (first?, second?);
    println!("loss of one device:  {:.3} at first, {:.3} at last", alone[0], alone[STEPS - 1]);
    println!("loss of two devices: {:.3} at first, {:.3} at last", first[0], first[STEPS - 1]);
    let equal = alone.iter().zip(&first).zip(&second).filter(|((a, b), c)| a == b && a == c).count();
    println!("{equal} of {STEPS} losses are equal");
    Ok(if equal == STEPS { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
