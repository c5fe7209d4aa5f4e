//! The forms of parameters and results, and the signatures of functions.

use crate::program::PtxError;
use crate::program::symbols::layout;
use crate::program::types::Type;
use crate::ptx::{self, Variable};

/// The form of a parameter or a result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Form {
    Scalar {
        ty: Type,
        align: u32,
    },
    /// An array, or one of any size.
    Array {
        bytes: Option<u64>,
        align: u64,
    },
}

impl Form {
    pub(super) fn of_register(ty: Type) -> Form {
        Form::Scalar { ty, align: ty.bytes() }
    }

    pub(super) fn of(variable: &Variable<'_>) -> Result<Form, Box<PtxError>> {
        if let (Some(ty), true) = (Type::parse(variable.ty), variable.dimensions.is_empty()) {
            return Ok(Form::Scalar { ty, align: variable.align.unwrap_or(ty.bytes()) });
        }
        let (bytes, align) = layout(variable)?;
        Ok(Form::Array { bytes, align })
    }

    /// True if a parameter of this form takes an argument of another form, or gives a result to it.
    pub(super) fn takes(self, argument: Form) -> bool {
        match (self, argument) {
            (Form::Scalar { ty, align }, Form::Scalar { ty: other, align: of_other }) => {
                let same_kind = (ty == Type::Pred) == (other == Type::Pred);
                let either = ty.takes(other) || [ty, other].contains(&Type::F16x2);
                same_kind && ty.bytes() == other.bytes() && align == of_other && either
            }
            (Form::Array { bytes, align }, Form::Array { bytes: other, align: of_other }) => {
                align == of_other && (bytes.is_none() || bytes == other)
            }
            _ => false,
        }
    }
}

/// The use of a parameter or a result by the function that is being decoded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Role {
    /// Its own parameter, which it reads.
    Taken,
    /// Its own result, which it writes.
    Given,
    /// An argument or a result of its calls.
    Passed,
}

/// The parameters and results of a function.
#[derive(Clone, Copy)]
pub(super) struct Signature<'m, 's> {
    pub(super) params: &'m [Variable<'s>],
    pub(super) returns: &'m [Variable<'s>],
}

impl<'m, 's> Signature<'m, 's> {
    pub(super) fn of(function: &'m ptx::Function<'s>) -> Self {
        Signature { params: &function.params, returns: &function.returns }
    }
}
