//! `#[derive(DeviceData)]`, which the feature `derive` of the crate `cuprum` exports; documented
//! there, with the trait.
//!
//! Reads a struct's tokens without a parser crate, so that the feature costs no further dependency.

mod item;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use item::{Refusal, Struct};

/// Implements `cuprum::memory::DeviceData` for a struct, after proving its layout at compile time.
///
/// The struct has `#[repr(C)]` or `#[repr(transparent)]` and no parameters; every field is
/// `DeviceData`, and there is no padding between or after them.
#[proc_macro_derive(DeviceData)]
pub fn device_data(item: TokenStream) -> TokenStream {
    match Struct::read(item) {
        Ok(read) => implementation(&read),
        Err(refusal) => compile_error(&refusal),
    }
}

/// The proof and the implementation.
///
/// The proof is in the constant: it names each field's type as written, so that the compiler points
/// there.
fn implementation(read: &Struct) -> TokenStream {
    let name = TokenStream::from(TokenTree::from(read.name.clone()));
    let mut sum = tokens("0usize");
    let mut bounds = TokenStream::new();
    for field in &read.fields {
        sum.extend(tokens("+ ::core::mem::size_of::<"));
        sum.extend(field.clone());
        sum.extend(tokens(">()"));
        bounds.extend(tokens("__cuprum_plain_data::<"));
        bounds.extend(field.clone());
        bounds.extend(tokens(">();"));
    }
    let mut message = Literal::string(&format!(
        "`{}` has padding: add fields of plain bytes where it lies, or order the fields by falling alignment",
        read.name
    ));
    message.set_span(read.name.span());

    let mut proof = tokens("const fn __cuprum_plain_data<T: ::cuprum::memory::DeviceData>() {}");
    proof.extend(bounds);
    proof.extend(tokens("::core::assert!"));
    let mut condition = tokens("::core::mem::size_of::<");
    condition.extend(name.clone());
    condition.extend(tokens(">() == "));
    condition.extend(sum);
    condition.extend([TokenTree::from(Punct::new(',', Spacing::Alone)), TokenTree::from(message)]);
    proof.extend([TokenTree::from(Group::new(Delimiter::Parenthesis, condition))]);
    proof.extend(tokens(";"));

    let mut out = tokens("const _: () =");
    out.extend([TokenTree::from(Group::new(Delimiter::Brace, proof))]);
    // The bounds and the sum above are the reason for which this is sound.
    out.extend(tokens("; #[automatically_derived] unsafe impl ::cuprum::memory::DeviceData for"));
    out.extend(name);
    out.extend(tokens("{}"));
    out
}

/// Our own tokens.
fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

fn compile_error(refusal: &Refusal) -> TokenStream {
    let at = |mut tree: TokenTree| {
        tree.set_span(refusal.at);
        tree
    };
    let message = TokenStream::from(at(TokenTree::from(Literal::string(refusal.message))));
    TokenStream::from_iter([
        at(TokenTree::from(Ident::new("compile_error", Span::call_site()))),
        at(TokenTree::from(Punct::new('!', Spacing::Alone))),
        at(TokenTree::from(Group::new(Delimiter::Brace, message))),
    ])
}
