//! The meaning of the names of a module, and the sizes of its variables.

use super::newer::Newer;
use super::types::Type;
use super::{PtxError, PtxErrorKind};
use crate::ptx::{self, Position, Variable};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// Upper bound on the size of a module in instructions. Functions count once for each kernel that
/// may call them; shared variables, rows and targets of indexed branches also count. About 100 MB
/// of text without repetitions.
pub(super) const MOST_PARTS: u32 = 1 << 22;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ModuleSymbol {
    Global(u32),
    Shared(u32),
    Function(u32),
}

/// The use of modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// One module that is all of the program.
    Whole,
    /// One input of a link, which calls functions of other inputs.
    Input,
    /// All inputs of a link.
    Linked,
}

/// Size and alignment of a shared variable; `bytes` is `None` if the launch determines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SharedVariable {
    pub(super) bytes: Option<u32>,
    pub(super) align: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Features {
    /// The architecture: 90 for `sm_90`.
    pub(super) number: u32,
    /// Features from `sm_100` on: 32-byte accesses, pairs of single precision.
    pub(super) since_sm_100: bool,
    /// Features of one architecture, such as `sm_90a`, and its successors.
    pub(super) own: bool,
    pub(super) of_sm_90a: bool,
    /// Shuffles and votes among the active lanes, without `.sync` and a mask.
    pub(super) collectives_without_sync: bool,
}

/// A module that is loaded, alone or with others: its header, and the meaning of its names.
pub(super) struct Input<'m, 's> {
    pub(super) module: &'m ptx::Module<'s>,
    /// With the position of their first declarations.
    pub(super) symbols: HashMap<&'s str, (ModuleSymbol, Position)>,
    pub(super) features: Features,
    /// Forms of instructions that its version or its target does not have.
    pub(super) newer: Newer,
    /// Distance of the numbers of its files from those in its text.
    pub(super) first_file: u32,
}

impl Input<'_, '_> {
    /// Returns the meaning of a name that is declared before this position.
    pub(super) fn symbol(&self, name: &str, before: Position) -> Option<ModuleSymbol> {
        let (symbol, declared) = self.symbols.get(name)?;
        (*declared < before).then_some(*symbol)
    }
}

/// The definition of a function, and its module.
#[derive(Clone, Copy)]
pub(super) struct Definition<'m, 's> {
    pub(super) tree: &'m ptx::Function<'s>,
    pub(super) input: usize,
}

/// A function of any module, by index.
#[derive(Clone, Copy)]
pub(super) struct Function<'m, 's> {
    /// Its first declaration, with which all others agree.
    pub(super) tree: &'m ptx::Function<'s>,
    pub(super) definition: Option<Definition<'m, 's>>,
    /// True if it may be defined in another module.
    pub(super) is_extern: bool,
}

/// The modules, for the decoder of kernels.
pub(super) struct Context<'m, 's> {
    pub(super) purpose: Purpose,
    pub(super) inputs: Vec<Input<'m, 's>>,
    pub(super) shared: Vec<SharedVariable>,
    /// The variables in constant memory: their indices and their bytes.
    pub(super) constants: Vec<(u32, u64)>,
    pub(super) functions: Vec<Function<'m, 's>>,
    pub(super) address_taken: Vec<u32>,
    pub(super) files: Arc<[(u32, String)]>,
    /// The variables of global and constant memory inside functions, by position and
    /// name.
    pub(super) inner: HashMap<(Position, &'s str), u32>,
    /// The names of vector registers, and of their elements.
    pub(super) elements: HashMap<&'s str, Vec<&'s str>>,
    /// Number of parts that the module may still have.
    pub(super) parts: Cell<u32>,
}

impl<'m, 's> Context<'m, 's> {
    /// Returns the definition of a function, if there is one.
    pub(super) fn body(&self, index: u32) -> Option<&'m ptx::Function<'s>> {
        self.functions[index as usize].definition.map(|definition| definition.tree)
    }

    /// Counts parts of the module, which may be much larger than its text.
    pub(super) fn count(&self, parts: usize, at: Position) -> Result<(), Box<PtxError>> {
        let left = u32::try_from(parts).ok().and_then(|parts| self.parts.get().checked_sub(parts));
        self.parts.set(left.ok_or_else(|| {
            let text = format!("the module becomes more than {MOST_PARTS} instructions and registers");
            PtxError::at(at, PtxErrorKind::Unsupported, text)
        })?);
        Ok(())
    }
}

/// Returns the size and alignment of a declared variable; no size for an unsized array.
pub(super) fn layout(variable: &Variable<'_>) -> Result<(Option<u64>, u64), Box<PtxError>> {
    let refuse = |message: String| PtxError::at(variable.position, PtxErrorKind::Unsupported, message);
    let ty = Type::parse(variable.ty).filter(|ty| *ty != Type::Pred).ok_or_else(|| {
        refuse(format!(
            "variables of type `.{}` are not supported by the software device: CUDA 12 took texture and surface \
             references out of the language; texture and surface objects (`cuTexObjectCreate`, \
             `cuSurfObjectCreate`) replace them",
            variable.ty
        ))
    })?;
    let element = u64::from(ty.bytes()) * u64::from(variable.vector);
    let mut bytes = Some(element);
    for dimension in &variable.dimensions {
        bytes = match (bytes, dimension) {
            (Some(bytes), Some(count)) => Some(
                bytes
                    .checked_mul(*count)
                    .filter(|bytes| *bytes < 1 << 48)
                    .ok_or_else(|| refuse(format!("`{}` is larger than any memory", variable.name)))?,
            ),
            _ => None,
        };
    }
    let align = variable.align.map_or(element, u64::from).max(1);
    if !align.is_power_of_two() || align > 4096 {
        return Err(refuse(format!("the alignment {align} is not a power of two up to 4096")));
    }
    Ok((bytes, align))
}

pub(super) fn shared_layout(variable: &Variable<'_>) -> Result<SharedVariable, Box<PtxError>> {
    let (bytes, align) = layout(variable)?;
    let bytes = bytes
        .map(|bytes| {
            u32::try_from(bytes).map_err(|_| {
                PtxError::at(
                    variable.position,
                    PtxErrorKind::Unsupported,
                    "more shared memory than any block has",
                )
            })
        })
        .transpose()?;
    Ok(SharedVariable { bytes, align: align as u32 })
}
