//! A struct, as far as the derive has to know it.

use std::iter::Peekable;

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree, token_stream};

/// A struct whose representation is defined.
pub(crate) struct Struct {
    pub(crate) name: Ident,
    /// The types of the fields, as written.
    pub(crate) fields: Vec<TokenStream>,
}

/// Reason why nothing is derived, and its place in the source.
pub(crate) struct Refusal {
    pub(crate) message: &'static str,
    pub(crate) at: Span,
}

type Trees = Peekable<token_stream::IntoIter>;

impl Struct {
    /// Reads the item of the derive.
    pub(crate) fn read(item: TokenStream) -> Result<Self, Refusal> {
        let mut trees = item.into_iter().peekable();
        let defined = representation(&mut trees);
        visibility(&mut trees);
        let keyword = word(&mut trees)?;
        if keyword.to_string() != "struct" {
            let message = "`DeviceData` can be derived for structs alone: not every number is a variant of an enum, and \
                           not every field of a union need be initialized";
            return Err(Refusal { message, at: keyword.span() });
        }
        let name = word(&mut trees)?;
        if !defined {
            let message = "`DeviceData` needs `#[repr(C)]` or `#[repr(transparent)]`: Rust orders the fields of other \
                           structs as it likes, and a kernel cannot know how";
            return Err(Refusal { message, at: name.span() });
        }
        match trees.next() {
            Some(TokenTree::Group(body)) => Ok(Self { name, fields: fields(&body)? }),
            Some(TokenTree::Punct(punct)) if punct.as_char() == '<' => {
                let message = "`DeviceData` cannot be derived for a struct with parameters, whose padding depends on \
                               them: implement it by hand, which is `unsafe`";
                Err(Refusal { message, at: punct.span() })
            }
            Some(TokenTree::Ident(word)) => {
                let message = "`DeviceData` cannot be derived for a struct with a `where` clause: what holds under a \
                               condition is not proved; implement it by hand, which is `unsafe`";
                Err(Refusal { message, at: word.span() })
            }
            _ => Ok(Self { name, fields: Vec::new() }),
        }
    }
}

/// Steps over attributes; true if one of them defines the representation.
fn representation(trees: &mut Trees) -> bool {
    let mut defined = false;
    while trees.next_if(|tree| is_punct(tree, '#')).is_some() {
        let Some(TokenTree::Group(attribute)) = trees.next() else { continue };
        let mut inside = attribute.stream().into_iter();
        let is_repr = matches!(inside.next(), Some(TokenTree::Ident(name)) if name.to_string() == "repr");
        if let (true, Some(TokenTree::Group(kinds))) = (is_repr, inside.next()) {
            defined |= kinds.stream().into_iter().any(
                |kind| matches!(kind, TokenTree::Ident(kind) if ["C", "transparent"].contains(&kind.to_string().as_str())),
            );
        }
    }
    defined
}

/// Steps over `pub`, `pub(crate)` and the like.
fn visibility(trees: &mut Trees) {
    if trees.next_if(|tree| matches!(tree, TokenTree::Ident(word) if word.to_string() == "pub")).is_some() {
        trees.next_if(|tree| is_group(tree, Delimiter::Parenthesis));
    }
}

fn word(trees: &mut Trees) -> Result<Ident, Refusal> {
    match trees.next() {
        Some(TokenTree::Ident(word)) => Ok(word),
        other => Err(Refusal {
            message: "`DeviceData` can be derived for structs alone",
            at: other.map_or_else(Span::call_site, |tree| tree.span()),
        }),
    }
}

/// The types of all fields, named or not.
fn fields(body: &Group) -> Result<Vec<TokenStream>, Refusal> {
    let named = body.delimiter() == Delimiter::Brace;
    let mut trees = body.stream().into_iter().peekable();
    let mut fields = Vec::new();
    while trees.peek().is_some() {
        representation(&mut trees);
        visibility(&mut trees);
        if named {
            word(&mut trees)?;
            trees.next();
        }
        fields.push(up_to_comma(&mut trees));
    }
    Ok(fields)
}

/// A type: all up to the comma that ends it, which is none between angle brackets.
fn up_to_comma(trees: &mut Trees) -> TokenStream {
    let (mut depth, mut arrow) = (0usize, false);
    let mut out = TokenStream::new();
    for tree in trees.by_ref() {
        if let TokenTree::Punct(punct) = &tree {
            match punct.as_char() {
                ',' if depth == 0 => break,
                '<' => depth += 1,
                '>' if !arrow => depth = depth.saturating_sub(1),
                _ => {}
            }
            arrow = punct.as_char() == '-';
        } else {
            arrow = false;
        }
        out.extend([tree]);
    }
    out
}

fn is_punct(tree: &TokenTree, character: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == character)
}

fn is_group(tree: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == delimiter)
}
