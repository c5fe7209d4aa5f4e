//! Choice of a device: the one that the environment names, otherwise the first that works.

use super::Device;
use super::choice_error::ChoiceError;
use super::visibility::Visibility;
use crate::driver::Driver;
use crate::error::Error;

/// The environment variable that names the device to choose, by its number.
pub const DEVICE_VARIABLE: &str = "CUDA_DEVICE";

impl Driver {
    /// Chooses a device as PyCUDA does: the device whose number is in `CUDA_DEVICE`. If the
    /// variable is unset or empty, chooses the first device for which `make` succeeds; `make`
    /// usually creates a context. A device may be in exclusive use by another process, or have no
    /// free memory.
    ///
    /// ```
    /// use cuprum::context::PrimaryContext;
    /// use cuprum::Driver;
    ///
    /// let (library, _why) = cuprum_emulator::open_driver_or_emulator()?;
    /// let context = Driver::init(library)?.choose_device(PrimaryContext::retain)?;
    /// println!("{}", context.device().name()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ChoiceError`], with the variables that may hide a device. A named device is the only one
    /// tried.
    pub fn choose_device<R>(self, make: impl FnMut(Device) -> Result<R, Error>) -> Result<R, ChoiceError> {
        let wanted = cuprum_sys::environment::variable(DEVICE_VARIABLE);
        let wanted = wanted.map(|value| value.to_string_lossy().into_owned());
        self.choose(wanted.as_deref(), make)
    }

    fn choose<R>(
        self,
        wanted: Option<&str>,
        mut make: impl FnMut(Device) -> Result<R, Error>,
    ) -> Result<R, ChoiceError> {
        let visibility = Visibility::from_env();
        let count = self.device_count()?;
        let numbers = match wanted {
            None if count == 0 => return Err(ChoiceError::NoDevice { visibility }),
            None => 0..count,
            Some(value) => {
                let number = value.trim().parse::<u32>();
                let number = number.map_err(|_| ChoiceError::NotANumber { value: value.to_owned() })?;
                if number >= count {
                    return Err(ChoiceError::NotShown { number, count, visibility });
                }
                number..number + 1
            }
        };
        let mut errors = Vec::new();
        for number in numbers {
            match self.device(number).and_then(&mut make) {
                Ok(made) => return Ok(made),
                Err(error) => errors.push((number, error)),
            }
        }
        Err(ChoiceError::NoneWorks { errors, visibility })
    }
}
