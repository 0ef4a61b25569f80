//! Parses tokens into a syntax tree by recursive descent with one token of lookahead. Names and types are
//! checked later.
//!
//! ```text
//! or      = and { "||" and }
//! and     = compare { "&&" compare }
//! compare = unary [ ( "==" | "!=" | "<=" | ">=" | "<" | ">" | "in" ) unary ]
//! unary   = "!" unary | postfix
//! postfix = primary { "." name [ "(" [ arguments ] ")" ] | "[" or [ ".." or ] "]" }
//! primary = "true" | "false" | integer | string | list | struct | call | name | "(" or ")"
//! ```

use crate::expression_error::{ErrorReason, ExpressionError, Result, echo};
use crate::lex::{Lexeme, Lexer, Token};
use crate::number::Integer;
use crate::syntax::{Comparison, Expression, Function, Name, Quantifier, Syntax};
use crate::{LIST_LIMIT, NESTING_LIMIT};

/// Parses a complete expression.
pub(crate) fn parse(source: &str) -> Result<Expression> {
    let mut parser = Parser::start(source)?;
    let expression = parser.or()?;
    match parser.next {
        None => Ok(expression),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    next: Option<Lexeme<'s>>,
    /// End of the last consumed token, at which an unexpected end of the text is reported.
    last_end: usize,
    /// Number of open brackets and negations around the next token.
    depth: usize,
}

impl<'s> Parser<'s> {
    fn start(source: &'s str) -> Result<Self> {
        let mut lexer = Lexer::new(source);
        let next = lexer.next()?;
        Ok(Self { source, lexer, next, last_end: 0, depth: 0 })
    }

    fn or(&mut self) -> Result<Expression> {
        self.joined("||", Syntax::Or, Self::and)
    }

    fn and(&mut self) -> Result<Expression> {
        self.joined("&&", Syntax::And, Self::compare)
    }

    /// Parses one part, or several joined by an operator into a flat list, so that a long chain is not a deep
    /// tree.
    fn joined(
        &mut self,
        operator: &'static str,
        syntax: fn(Vec<Expression>) -> Syntax,
        part: fn(&mut Self) -> Result<Expression>,
    ) -> Result<Expression> {
        let first = part(self)?;
        if !self.at(operator) {
            return Ok(first);
        }
        let offset = first.offset;
        let mut nesting = first.nesting;
        let mut parts = vec![first];
        while self.accept(operator)? {
            let next = part(self)?;
            nesting = nesting.max(next.nesting);
            parts.push(next);
        }
        Ok(Expression { offset, nesting, syntax: syntax(parts) })
    }

    fn compare(&mut self) -> Result<Expression> {
        let left = self.unary()?;
        let Some((symbol, offset)) = self.symbol() else {
            return Ok(left);
        };
        let Some(comparison) = Comparison::from_name(symbol) else {
            return Ok(left);
        };
        self.advance()?;
        let right = self.unary()?;
        let nesting = left.nesting.max(right.nesting);
        let (left, right) = (Box::new(left), Box::new(right));
        let syntax = Syntax::Compare { comparison, left, right };
        Ok(Expression { offset, nesting, syntax })
    }

    fn unary(&mut self) -> Result<Expression> {
        let Some(("!", offset)) = self.symbol() else {
            return self.postfix();
        };
        self.open()?;
        let inner = self.unary()?;
        self.depth = self.depth.saturating_sub(1);
        let nesting = inner.nesting;
        self.outer(offset, nesting, Syntax::Not(Box::new(inner)))
    }

    fn postfix(&mut self) -> Result<Expression> {
        let mut expression = self.primary()?;
        loop {
            expression = match self.symbol() {
                Some((".", _)) => self.member(expression)?,
                Some(("[", offset)) => self.subscript(expression, offset)?,
                _ => return Ok(expression),
            };
        }
    }

    fn member(&mut self, of: Expression) -> Result<Expression> {
        self.advance()?;
        let name = self.name()?;
        let (offset, nesting, of) = (name.offset, of.nesting, Box::new(of));
        if !self.at("(") {
            return self.outer(offset, nesting, Syntax::Field { of, name });
        }
        self.open()?;
        let (inner, syntax) = match Quantifier::from_name(&name.text) {
            Some(quantifier) => self.lambda(of, quantifier)?,
            None => self.arguments(of, name)?,
        };
        self.close(")")?;
        self.outer(offset, nesting.max(inner), syntax)
    }

    fn arguments(&mut self, of: Box<Expression>, name: Name) -> Result<(usize, Syntax)> {
        let arguments = self.elements(")")?;
        let nesting = deepest(&arguments);
        Ok((nesting, Syntax::Method { of, name, arguments }))
    }

    fn lambda(&mut self, of: Box<Expression>, quantifier: Quantifier) -> Result<(usize, Syntax)> {
        let variable = self.name()?;
        self.expect(",")?;
        let predicate = Box::new(self.or()?);
        Ok((predicate.nesting, Syntax::Each { of, quantifier, variable, predicate }))
    }

    fn subscript(&mut self, of: Expression, offset: usize) -> Result<Expression> {
        self.open()?;
        let from = self.or()?;
        let mut nesting = of.nesting.max(from.nesting);
        let (of, from) = (Box::new(of), Box::new(from));
        let syntax = if self.accept("..")? {
            let to = Box::new(self.or()?);
            nesting = nesting.max(to.nesting);
            Syntax::Slice { of, from, to }
        } else {
            Syntax::Index { of, key: from }
        };
        self.close("]")?;
        self.outer(offset, nesting, syntax)
    }

    fn primary(&mut self) -> Result<Expression> {
        let Some(Lexeme { token, start: offset, .. }) = self.next else {
            return Err(self.unexpected());
        };
        let syntax = match token {
            Token::Symbol("(") => return self.parenthesised(),
            Token::Symbol("[") => return self.list(offset),
            Token::Symbol("{") => return self.record(offset),
            Token::Symbol("true") => Syntax::Bool(true),
            Token::Symbol("false") => Syntax::Bool(false),
            Token::Symbol(_) => return Err(self.unexpected()),
            Token::Text(text) => Syntax::Text(text.to_owned()),
            Token::Integer(digits) => Syntax::Integer(self.integer(digits, offset)?),
            Token::Identifier(name) => {
                self.advance()?;
                return self.named(name, offset);
            }
        };
        self.advance()?;
        Ok(Expression { offset, nesting: 0, syntax })
    }

    fn parenthesised(&mut self) -> Result<Expression> {
        self.open()?;
        let inner = self.or()?;
        self.close(")")?;
        let nesting = inner.nesting;
        self.outer(inner.offset, nesting, inner.syntax)
    }

    fn list(&mut self, offset: usize) -> Result<Expression> {
        self.open()?;
        let elements = self.elements("]")?;
        self.close("]")?;
        self.outer(offset, deepest(&elements), Syntax::List(elements))
    }

    fn record(&mut self, offset: usize) -> Result<Expression> {
        self.open()?;
        let members = self.separated("}", |parser| {
            let name = parser.name()?;
            parser.expect(":")?;
            Ok((name, parser.or()?))
        })?;
        let nesting = members.iter().map(|(_, member)| member.nesting).max().unwrap_or_default();
        self.close("}")?;
        self.outer(offset, nesting, Syntax::Struct(members))
    }

    fn named(&mut self, name: &str, offset: usize) -> Result<Expression> {
        let Some(function) = Function::from_name(name).filter(|_| self.at("(")) else {
            return Ok(Expression { offset, nesting: 0, syntax: Syntax::Name(name.to_owned()) });
        };
        self.open()?;
        let arguments = self.elements(")")?;
        self.close(")")?;
        self.outer(offset, deepest(&arguments), Syntax::Call { function, arguments })
    }

    /// Parses expressions separated by commas, up to but not including the closing bracket.
    fn elements(&mut self, closing: &'static str) -> Result<Vec<Expression>> {
        self.separated(closing, Self::or)
    }

    /// Parses elements separated by commas, up to but not including the closing bracket.
    fn separated<T>(
        &mut self,
        closing: &'static str,
        mut element: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut elements = Vec::new();
        while !self.at(closing) {
            if !elements.is_empty() {
                self.expect(",")?;
            }
            if elements.len() >= LIST_LIMIT {
                return Err(self.error(ErrorReason::ListLength(LIST_LIMIT)));
            }
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    /// Parses an integer in the domain of `int` or `uint`: from −2^127 to 2^256 − 1.
    fn integer(&self, digits: &str, offset: usize) -> Result<Integer> {
        Integer::from_decimal(digits)
            .filter(|number| number.is_int() || number.is_uint())
            .ok_or_else(|| ExpressionError::new(self.source, offset, ErrorReason::IntegerRange))
    }

    fn name(&mut self) -> Result<Name> {
        match self.next {
            Some(Lexeme { token: Token::Identifier(text), start: offset, .. }) => {
                self.advance()?;
                Ok(Name { text: text.to_owned(), offset })
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Creates a part that is one level above the deepest of its children.
    fn outer(&self, offset: usize, inner: usize, syntax: Syntax) -> Result<Expression> {
        let nesting = inner.saturating_add(1);
        if nesting > NESTING_LIMIT {
            return Err(ExpressionError::new(self.source, offset, ErrorReason::Nesting(NESTING_LIMIT)));
        }
        Ok(Expression { offset, nesting, syntax })
    }

    /// Consumes an opening bracket or a negation, unless the nesting is too deep.
    fn open(&mut self) -> Result<()> {
        if self.depth >= NESTING_LIMIT {
            return Err(self.error(ErrorReason::Nesting(NESTING_LIMIT)));
        }
        self.depth = self.depth.saturating_add(1);
        self.advance()
    }

    fn close(&mut self, closing: &'static str) -> Result<()> {
        self.depth = self.depth.saturating_sub(1);
        self.expect(closing)
    }

    fn expect(&mut self, symbol: &'static str) -> Result<()> {
        if self.accept(symbol)? { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Consumes a symbol if it is the next token, and returns whether it was.
    fn accept(&mut self, symbol: &'static str) -> Result<bool> {
        let matches = self.at(symbol);
        if matches {
            self.advance()?;
        }
        Ok(matches)
    }

    fn at(&self, symbol: &'static str) -> bool {
        self.symbol().is_some_and(|(next, _)| next == symbol)
    }

    fn symbol(&self) -> Option<(&'static str, usize)> {
        match self.next {
            Some(Lexeme { token: Token::Symbol(symbol), start, .. }) => Some((symbol, start)),
            _ => None,
        }
    }

    fn advance(&mut self) -> Result<()> {
        if let Some(lexeme) = self.next {
            self.last_end = lexeme.end;
        }
        self.next = self.lexer.next()?;
        Ok(())
    }

    fn unexpected(&self) -> ExpressionError {
        match self.next {
            None => ExpressionError::new(self.source, self.last_end, ErrorReason::EndOfText),
            Some(Lexeme { start, end, .. }) => {
                let token = self.source.get(start..end).unwrap_or_default();
                self.error(ErrorReason::Token(echo(token)))
            }
        }
    }

    fn error(&self, reason: ErrorReason) -> ExpressionError {
        let offset = self.next.map_or(self.last_end, |lexeme| lexeme.start);
        ExpressionError::new(self.source, offset, reason)
    }
}

fn deepest(expressions: &[Expression]) -> usize {
    expressions.iter().map(|expression| expression.nesting).max().unwrap_or_default()
}
