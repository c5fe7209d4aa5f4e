//! Tokens to syntax tree: recursive descent with one token of look-ahead.

use super::lexer::{Lexer, Token};
use super::tree::*;
use super::{Position, SyntaxError};

/// Nesting of braces, initialisers and expressions beyond which text is refused rather than recursed into.
const MAX_DEPTH: u32 = 200;

/// Reads a module.
///
/// # Errors
/// The first place that is not PTX: its line, its column, and what was expected there.
pub fn parse(source: &str) -> Result<Module<'_>, SyntaxError> {
    let mut parser = Parser::new(source)?;
    parser.module()
}

struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token<'s>,
    start: usize,
    /// Where the last consumed token ended.
    previous_end: usize,
    position: Position,
    depth: u32,
    /// Inside of brackets, braces or parentheses of an operand.
    inside: bool,
}

type Parsed<T> = Result<T, SyntaxError>;

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Parsed<Self> {
        let mut lexer = Lexer::new(source);
        let (token, start, position) = lexer.next()?;
        Ok(Parser { lexer, token, start, previous_end: 0, position, depth: 0, inside: false })
    }

    fn advance(&mut self) -> Parsed<Token<'s>> {
        let token = self.token;
        self.previous_end = self.lexer.offset();
        (self.token, self.start, self.position) = self.lexer.next()?;
        Ok(token)
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        Err(SyntaxError {
            position: self.position,
            message: format!("expected {what}, found {}", self.token.describe()),
        })
    }

    fn is(&self, c: u8) -> bool {
        self.token == Token::Punctuation(c)
    }

    fn accept(&mut self, c: u8) -> Parsed<bool> {
        let found = self.is(c);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn require(&mut self, c: u8) -> Parsed<()> {
        if self.accept(c)? { Ok(()) } else { self.expected(&format!("`{}`", char::from(c))) }
    }

    fn name(&mut self, what: &str) -> Parsed<&'s str> {
        match self.token {
            Token::Name(name) => {
                self.advance()?;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    fn integer(&mut self, what: &str) -> Parsed<u64> {
        match self.token {
            Token::Int(value) => {
                self.advance()?;
                Ok(value)
            }
            _ => self.expected(what),
        }
    }

    fn small(&mut self, what: &str) -> Parsed<u32> {
        match self.token {
            Token::Int(value) if u32::try_from(value).is_ok() => {
                self.advance()?;
                Ok(value as u32)
            }
            _ => self.expected(what),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.expected("less nesting");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn comma_separated<T>(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.accept(close)? {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(close)? {
                return Ok(items);
            }
            if !self.accept(b',')? {
                return self.expected(&format!("`,` or `{}`", char::from(close)));
            }
        }
    }

    // Module scope.

    fn module(&mut self) -> Parsed<Module<'s>> {
        let mut module = Module { address_size: 64, ..Module::default() };
        if self.token != Token::Dot("version") {
            return self.expected("`.version`");
        }
        // The version is read as text, before the look-ahead turns it into a number.
        module.version = self.lexer.version()?;
        module.version_position = self.position;
        self.advance()?;
        while self.token != Token::End {
            self.module_item(&mut module)?;
        }
        Ok(module)
    }

    fn module_item(&mut self, module: &mut Module<'s>) -> Parsed<()> {
        let Token::Dot(directive) = self.token else {
            return self.expected("a directive such as `.visible`, `.entry` or `.global`");
        };
        match directive {
            "target" => {
                self.advance()?;
                loop {
                    module.target.push(self.name("an architecture such as `sm_75`")?);
                    if !self.accept(b',')? {
                        return Ok(());
                    }
                }
            }
            "address_size" => {
                self.advance()?;
                module.address_size = self.small("32 or 64")?;
                Ok(())
            }
            "file" => {
                self.advance()?;
                let index = self.small("the index of the file")?;
                let Token::Text(path) = self.token else { return self.expected("a path in quotes") };
                self.advance()?;
                while self.accept(b',')? {
                    self.integer("a time stamp or a size")?;
                }
                module.files.push((index, path));
                Ok(())
            }
            "section" => self.section(),
            "loc" => self.location().map(drop),
            "pragma" => self.pragma().map(drop),
            "alias" => {
                self.advance()?;
                let name = self.name("a function")?;
                self.require(b',')?;
                module.aliases.push((name, self.name("a function")?));
                self.require(b';')
            }
            _ => self.declaration(module),
        }
    }

    fn section(&mut self) -> Parsed<()> {
        self.advance()?;
        match self.token {
            Token::Dot(_) | Token::Name(_) => self.advance()?,
            _ => return self.expected("the name of the section"),
        };
        if !self.is(b'{') {
            return self.expected("`{`");
        }
        self.lexer.skip_braces()?;
        self.advance()?;
        Ok(())
    }

    fn declaration(&mut self, module: &mut Module<'s>) -> Parsed<()> {
        let mut linkage = Linkage::Internal;
        loop {
            let Token::Dot(directive) = self.token else {
                return self.expected("`.entry`, `.func` or a state space");
            };
            match directive {
                "visible" => linkage = Linkage::Visible,
                "extern" => linkage = Linkage::Extern,
                "weak" => linkage = Linkage::Weak,
                "common" => linkage = Linkage::Common,
                "entry" | "func" => {
                    self.advance()?;
                    let kind = if directive == "entry" { FunctionKind::Entry } else { FunctionKind::Device };
                    module.functions.push(self.function(kind, linkage)?);
                    return Ok(());
                }
                _ => {
                    let Some(space) = state_space(directive) else {
                        return self.expected("`.entry`, `.func` or a state space");
                    };
                    self.advance()?;
                    self.variables(space, linkage, &mut |variable| module.variables.push(variable))?;
                    return Ok(());
                }
            }
            self.advance()?;
        }
    }

    /// `.global .align 4 .b8 name[4] = {...}, other;` after the state space.
    fn variables(&mut self, space: Space, linkage: Linkage, add: &mut dyn FnMut(Variable<'s>)) -> Parsed<()> {
        let mut pattern = self.variable_type(space)?;
        pattern.linkage = linkage;
        loop {
            let mut variable = pattern.clone();
            self.variable_name(&mut variable)?;
            if self.accept(b'=')? {
                variable.initializer = Some(self.initializer()?);
            }
            add(variable);
            if self.accept(b';')? {
                return Ok(());
            }
            if !self.accept(b',')? {
                return self.expected("`;`, `,` or `=` after this declaration");
            }
        }
    }

    /// Alignment, attributes, vector size and type, in any order.
    fn variable_type(&mut self, space: Space) -> Parsed<Variable<'s>> {
        let mut variable = Variable {
            position: self.position,
            linkage: Linkage::Internal,
            space,
            align: None,
            ty: "",
            vector: 1,
            name: "",
            dimensions: Vec::new(),
            count: None,
            initializer: None,
            managed: false,
        };
        while let Token::Dot(word) = self.token {
            self.advance()?;
            match word {
                "align" => variable.align = Some(self.small("an alignment in bytes")?),
                "attribute" => {
                    self.require(b'(')?;
                    while !self.accept(b')')? {
                        match self.advance()? {
                            Token::Dot("managed") => variable.managed = true,
                            Token::End => return self.expected("`)`"),
                            _ => {}
                        }
                    }
                }
                "v2" => variable.vector = 2,
                "v4" => variable.vector = 4,
                "v8" => variable.vector = 8,
                // `.ptr .global .align 8` describes what a pointer parameter points at.
                "ptr" => self.pointer_attributes()?,
                _ if !variable.ty.is_empty() => return self.expected("one type"),
                _ => variable.ty = word,
            }
        }
        if variable.ty.is_empty() {
            return self.expected("a type such as `.b32`");
        }
        Ok(variable)
    }

    fn pointer_attributes(&mut self) -> Parsed<()> {
        while let Token::Dot(word) = self.token {
            match word {
                "align" => {
                    self.advance()?;
                    self.small("an alignment in bytes")?;
                }
                "global" | "const" | "shared" | "local" | "param" => {
                    self.advance()?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn variable_name(&mut self, variable: &mut Variable<'s>) -> Parsed<()> {
        variable.position = self.position;
        variable.name = self.name("a name")?;
        if self.accept(b'<')? {
            variable.count = Some(self.small("how many registers")?);
            self.require(b'>')?;
        }
        while self.accept(b'[')? {
            variable.dimensions.push(if self.is(b']') { None } else { Some(self.constant_expression()?) });
            self.require(b']')?;
        }
        Ok(())
    }

    fn initializer(&mut self) -> Parsed<Initializer<'s>> {
        if self.accept(b'{')? {
            return self.nested(|p| p.comma_separated(b'}', Self::initializer)).map(Initializer::List);
        }
        let position = self.position;
        match self.token {
            Token::Name(name) => {
                self.advance()?;
                let (symbol, generic) = if name == "generic" && self.is(b'(') {
                    (self.parenthesized_name()?, true)
                } else {
                    (name, false)
                };
                let offset = self.offset()?;
                Ok(Initializer::Address { symbol, offset, generic, mask: None, position })
            }
            Token::Single(bits) => {
                self.advance()?;
                Ok(Initializer::Single(bits))
            }
            Token::Double(value) => {
                self.advance()?;
                Ok(Initializer::Double(value))
            }
            Token::Punctuation(b'-') => {
                let negative = self.lexer.clone().next()?.0;
                if let Token::Double(value) = negative {
                    self.advance()?;
                    self.advance()?;
                    return Ok(Initializer::Double(-value));
                }
                self.constant_expression().map(Initializer::Int)
            }
            Token::Int(mask) => {
                let value = self.constant_expression()?;
                if value == mask && self.accept(b'(')? {
                    let (symbol, generic) = match self.name("a symbol")? {
                        "generic" if self.is(b'(') => (self.parenthesized_name()?, true),
                        symbol => (symbol, false),
                    };
                    let offset = self.offset()?;
                    self.require(b')')?;
                    return Ok(Initializer::Address { symbol, offset, generic, mask: Some(mask), position });
                }
                Ok(Initializer::Int(value))
            }
            _ => self.constant_expression().map(Initializer::Int),
        }
    }

    fn parenthesized_name(&mut self) -> Parsed<&'s str> {
        self.require(b'(')?;
        let name = self.name("a symbol")?;
        self.require(b')')?;
        Ok(name)
    }

    /// `+ 4`, `+ -4`, `+ 4 * 2`, or nothing.
    fn offset(&mut self) -> Parsed<i64> {
        if self.accept(b'+')? { Ok(self.constant_expression()? as i64) } else { Ok(0) }
    }

    // Constant expressions: C precedence, 64-bit two's complement.

    fn constant_expression(&mut self) -> Parsed<u64> {
        let value = self.nested(|p| p.binary_expression(0))?;
        if !self.accept(b'?')? {
            return Ok(value);
        }
        let yes = self.nested(Self::constant_expression)?;
        self.require(b':')?;
        let no = self.nested(Self::constant_expression)?;
        Ok(if value != 0 { yes } else { no })
    }

    /// Operators that bind more strongly than `least`.
    fn binary_expression(&mut self, least: u8) -> Parsed<u64> {
        let mut left = self.nested(Self::unary_expression)?;
        loop {
            let character;
            let operator = match self.token {
                Token::Operator(operator) => operator,
                Token::Punctuation(c) => {
                    character = [c];
                    std::str::from_utf8(&character).unwrap_or("")
                }
                _ => return Ok(left),
            };
            let strength = match operator {
                "||" => 1,
                "&&" => 2,
                "|" => 3,
                "^" => 4,
                "&" => 5,
                "==" | "!=" => 6,
                "<" | ">" | "<=" | ">=" => 7,
                "<<" | ">>" => 8,
                "+" | "-" => 9,
                "*" | "/" | "%" => 10,
                _ => return Ok(left),
            };
            if strength <= least {
                return Ok(left);
            }
            self.advance()?;
            let right = self.nested(|p| p.binary_expression(strength))?;
            let (a, b) = (left as i64, right as i64);
            let amount = (right & 63) as u32;
            left = match operator {
                "||" => u64::from(left != 0 || right != 0),
                "&&" => u64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => u64::from(left == right),
                "!=" => u64::from(left != right),
                "<" => u64::from(a < b),
                ">" => u64::from(a > b),
                "<=" => u64::from(a <= b),
                ">=" => u64::from(a >= b),
                "<<" => left << amount,
                ">>" => left >> amount,
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                _ if right == 0 => return self.expected("a divisor other than zero before this"),
                "/" => a.wrapping_div(b) as u64,
                _ => a.wrapping_rem(b) as u64,
            };
        }
    }

    fn unary_expression(&mut self) -> Parsed<u64> {
        match self.token {
            Token::Punctuation(operator @ (b'-' | b'+' | b'~' | b'!')) => {
                self.advance()?;
                let value = self.nested(Self::unary_expression)?;
                Ok(match operator {
                    b'-' => value.wrapping_neg(),
                    b'~' => !value,
                    b'!' => u64::from(value == 0),
                    _ => value,
                })
            }
            Token::Punctuation(b'(') => {
                self.advance()?;
                // A cast between the two types of constants changes no bits.
                if let Token::Dot("s64" | "u64") = self.token {
                    self.advance()?;
                    self.require(b')')?;
                    return self.nested(Self::unary_expression);
                }
                let value = self.nested(Self::constant_expression)?;
                self.require(b')')?;
                Ok(value)
            }
            Token::Name("WARP_SZ") => {
                self.advance()?;
                Ok(32)
            }
            _ => self.integer("an integer"),
        }
    }

    // Functions.

    fn function(&mut self, kind: FunctionKind, linkage: Linkage) -> Parsed<Function<'s>> {
        let mut directives = Vec::new();
        self.function_directives(&mut directives)?;
        let returns =
            if self.accept(b'(')? { self.comma_separated(b')', Self::parameter)? } else { Vec::new() };
        let position = self.position;
        let name = self.name("the name of the function")?;
        let params =
            if self.accept(b'(')? { self.comma_separated(b')', Self::parameter)? } else { Vec::new() };
        self.function_directives(&mut directives)?;
        let body = if self.accept(b';')? {
            None
        } else if self.accept(b'{')? {
            Some(self.body()?)
        } else {
            return self.expected("`{`, `;` or a directive such as `.maxntid`");
        };
        Ok(Function { position, kind, linkage, name, returns, params, directives, body })
    }

    fn function_directives(&mut self, directives: &mut Vec<(&'s str, Vec<u64>)>) -> Parsed<()> {
        while let Token::Dot(name) = self.token {
            if name == "pragma" {
                self.pragma()?;
                continue;
            }
            self.advance()?;
            let mut values = Vec::new();
            if self.accept(b'(')? {
                // `.attribute(...)` of a function.
                while !self.accept(b')')? {
                    if self.advance()? == Token::End {
                        return self.expected("`)`");
                    }
                }
            }
            while let Token::Int(value) = self.token {
                self.advance()?;
                values.push(value);
                if !self.accept(b',')? {
                    break;
                }
            }
            directives.push((name, values));
        }
        Ok(())
    }

    fn parameter(&mut self) -> Parsed<Variable<'s>> {
        let space = match self.token {
            Token::Dot("param") => Space::Param,
            Token::Dot("reg") => Space::Register,
            _ => return self.expected("`.param` or `.reg`"),
        };
        self.advance()?;
        let mut variable = self.variable_type(space)?;
        self.variable_name(&mut variable)?;
        Ok(variable)
    }

    /// Statements up to the closing brace; the opening one has been read.
    fn body(&mut self) -> Parsed<Vec<Statement<'s>>> {
        let mut statements = Vec::new();
        while !self.accept(b'}')? {
            self.statement(&mut statements)?;
        }
        Ok(statements)
    }

    fn statement(&mut self, statements: &mut Vec<Statement<'s>>) -> Parsed<()> {
        match self.token {
            Token::Name(_) => {
                let statement = self.label_or_instruction()?;
                statements.push(statement);
            }
            Token::Punctuation(b'@') => {
                let instruction = self.instruction()?;
                statements.push(Statement::Instruction(instruction));
            }
            Token::Punctuation(b'{') => {
                self.advance()?;
                let inner = self.nested(Self::body)?;
                statements.push(Statement::Block(inner));
            }
            Token::Dot("loc") => {
                let statement = self.location()?;
                statements.push(statement);
            }
            Token::Dot("pragma") => {
                let text = self.pragma()?;
                statements.push(Statement::Pragma(text));
            }
            Token::Dot("section") => self.section()?,
            Token::Dot(word) => {
                let Some(space) = state_space(word) else {
                    return self.expected("an instruction or a declaration");
                };
                self.advance()?;
                self.variables(space, Linkage::Internal, &mut |variable| {
                    statements.push(Statement::Variable(variable));
                })?;
            }
            _ => return self.expected("an instruction, a declaration or `}`"),
        }
        Ok(())
    }

    /// `.loc file line column[, function_name label, inlined_at file line column]`
    fn location(&mut self) -> Parsed<Statement<'s>> {
        self.advance()?;
        let file = self.small("the index of a file")?;
        let line = self.small("a line")?;
        self.small("a column")?;
        while self.accept(b',')? {
            match self.name("`function_name` or `inlined_at`")? {
                "function_name" => {
                    self.name("a label")?;
                    self.offset()?;
                }
                "inlined_at" => {
                    for _ in 0..3 {
                        self.small("a file, a line and a column")?;
                    }
                }
                _ => return self.expected("the attributes of `.loc`"),
            }
        }
        Ok(Statement::Location { file, line })
    }

    fn pragma(&mut self) -> Parsed<&'s str> {
        self.advance()?;
        let mut all = "";
        loop {
            let Token::Text(text) = self.token else { return self.expected("a string") };
            self.advance()?;
            all = if all.is_empty() { text } else { all };
            if self.accept(b';')? {
                return Ok(all);
            }
            self.require(b',')?;
        }
    }

    fn label_or_instruction(&mut self) -> Parsed<Statement<'s>> {
        let position = self.position;
        let Token::Name(name) = self.token else { return self.expected("an instruction") };
        if self.lexer.clone().next()?.0 != Token::Punctuation(b':') {
            return self.instruction().map(Statement::Instruction);
        }
        self.advance()?;
        self.advance()?;
        match self.token {
            Token::Dot("callprototype") => {
                self.advance()?;
                let returns = if self.accept(b'(')? {
                    self.comma_separated(b')', Self::parameter)?
                } else {
                    Vec::new()
                };
                self.name("`_`")?;
                let params = if self.accept(b'(')? {
                    self.comma_separated(b')', Self::parameter)?
                } else {
                    Vec::new()
                };
                self.function_directives(&mut Vec::new())?;
                self.require(b';')?;
                Ok(Statement::Prototype { name, returns, params })
            }
            Token::Dot("branchtargets" | "calltargets") => {
                self.advance()?;
                let targets = self.comma_separated(b';', |p| p.name("a label or a function"))?;
                Ok(Statement::Targets { name, targets })
            }
            _ => Ok(Statement::Label(position, name)),
        }
    }

    fn instruction(&mut self) -> Parsed<Instruction<'s>> {
        let (start, position) = (self.start, self.position);
        let mut guard = None;
        if self.accept(b'@')? {
            let negated = self.accept(b'!')?;
            guard = Some((self.name("a predicate")?, negated));
        }
        let opcode = self.name("an opcode")?;
        let mut modifiers = Vec::new();
        while let Token::Dot(modifier) = self.token {
            self.advance()?;
            modifiers.push(modifier);
        }
        let operands = if self.is(b';') {
            self.advance()?;
            Vec::new()
        } else {
            self.comma_separated(b';', Self::operand)?
        };
        let text = self.lexer.text(start, self.previous_end);
        Ok(Instruction { position, guard, opcode, modifiers, operands, text })
    }

    fn operand(&mut self) -> Parsed<Operand<'s>> {
        let first = self.nested(Self::single_operand)?;
        if self.accept(b'|')? {
            let second = self.nested(Self::single_operand)?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        Ok(first)
    }

    fn single_operand(&mut self) -> Parsed<Operand<'s>> {
        match self.token {
            Token::Name("WARP_SZ") => self.operand_expression(),
            Token::Name(name) => {
                self.advance()?;
                if let Token::Dot(_) = self.token {
                    let start = self.previous_end - name.len();
                    self.advance()?;
                    return Ok(Operand::Name(self.lexer.text(start, self.previous_end)));
                }
                if self.is(b'+') {
                    return Ok(Operand::Offset(name, self.offset()?));
                }
                if self.accept(b'[')? {
                    let index = self.nested(Self::operand)?;
                    self.require(b']')?;
                    return Ok(Operand::Element(name, Box::new(index)));
                }
                Ok(Operand::Name(name))
            }
            Token::Punctuation(b'!') => {
                if !matches!(self.lexer.clone().next()?.0, Token::Name(name) if name != "WARP_SZ") {
                    return self.operand_expression();
                }
                self.advance()?;
                Ok(Operand::Not(self.name("a predicate")?))
            }
            Token::Punctuation(b'[') => {
                self.advance()?;
                self.operands(b']').map(Operand::Memory)
            }
            Token::Punctuation(b'{') => {
                self.advance()?;
                self.operands(b'}').map(Operand::Vector)
            }
            // Lists hold no lists. So each text is looked at twice at most, however deep it nests.
            Token::Punctuation(b'(') if !self.inside && !self.parenthesis_is_arithmetic()? => {
                self.advance()?;
                self.operands(b')').map(Operand::List)
            }
            Token::Double(value) => {
                self.advance()?;
                Ok(Operand::Double(value))
            }
            Token::Single(bits) => {
                self.advance()?;
                Ok(Operand::Single(bits))
            }
            Token::Punctuation(b'-') => match self.lexer.clone().next()?.0 {
                Token::Double(value) => {
                    self.advance()?;
                    self.advance()?;
                    Ok(Operand::Double(-value))
                }
                Token::Single(bits) => {
                    self.advance()?;
                    self.advance()?;
                    Ok(Operand::Single(bits ^ 0x8000_0000))
                }
                Token::Name(name) if name != "WARP_SZ" => {
                    self.advance()?;
                    match self.single_operand()? {
                        Operand::Name(name) => Ok(Operand::Minus(name)),
                        _ => self.expected("a register"),
                    }
                }
                _ => self.operand_expression(),
            },
            Token::Int(_) | Token::Punctuation(b'~' | b'+' | b'(') => self.operand_expression(),
            _ => self.expected("an operand"),
        }
    }

    /// An operand inside a vector or a list, where nothing is added to a name.
    fn part(&mut self) -> Parsed<Operand<'s>> {
        match self.operand()? {
            Operand::Offset(..) | Operand::Element(..) => self.expected("a name or a number before this"),
            operand => Ok(operand),
        }
    }

    /// The operands up to `close`; what opens them has been read. Only between brackets are there sums.
    fn operands(&mut self, close: u8) -> Parsed<Vec<Operand<'s>>> {
        let outside = std::mem::replace(&mut self.inside, true);
        let one = if close == b']' { Self::operand } else { Self::part };
        let operands = self.comma_separated(close, one);
        self.inside = outside;
        operands
    }

    fn operand_expression(&mut self) -> Parsed<Operand<'s>> {
        self.constant_expression().map(Operand::Int)
    }

    /// Whether `(` opens a constant expression rather than an argument list of `call`.
    fn parenthesis_is_arithmetic(&self) -> Parsed<bool> {
        let mut ahead = self.lexer.clone();
        loop {
            match ahead.next()?.0 {
                Token::Punctuation(b'(' | b'-' | b'~' | b'+') => {}
                Token::Dot("s64" | "u64") => return Ok(true),
                Token::Int(_) => {
                    let after = ahead.next()?.0;
                    return Ok(!matches!(after, Token::Punctuation(b',' | b')')));
                }
                _ => return Ok(false),
            }
        }
    }
}

fn state_space(word: &str) -> Option<Space> {
    Some(match word {
        "reg" => Space::Register,
        "global" => Space::Global,
        "const" => Space::Const,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Param,
        "tex" => Space::Texture,
        _ => return None,
    })
}
