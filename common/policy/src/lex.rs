//! Splits the text of an expression into tokens.

use crate::expression_error::{ErrorReason, ExpressionError, Result};

/// A token of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A name, such as a root, a member or a variable.
    Identifier(&'s str),
    /// Decimal digits with an optional minus sign.
    Integer(&'s str),
    /// A string without its quotes.
    Text(&'s str),
    /// A keyword, operator or bracket, as written.
    Symbol(&'static str),
}

/// A token and its byte range in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme<'s> {
    pub(crate) token: Token<'s>,
    /// Offset of the first byte.
    pub(crate) start: usize,
    /// Offset after the last byte.
    pub(crate) end: usize,
}

/// Words that cannot be identifiers.
const KEYWORDS: [&str; 3] = ["false", "in", "true"];

/// Operators and brackets; a longer symbol precedes its own prefixes.
const SYMBOLS: [&str; 19] =
    ["||", "&&", "==", "!=", "<=", ">=", "..", "<", ">", "!", ".", ",", ":", "(", ")", "[", "]", "{", "}"];

/// The lexer of one text.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    position: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, position: 0 }
    }

    /// Returns the next token, or `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<Lexeme<'s>>> {
        self.skip_space();
        let start = self.position;
        let Some(first) = self.rest().chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '\'' => self.text(),
            '-' => self.negative(),
            '0'..='9' => Some(Token::Integer(self.take_while(|character| character.is_ascii_digit()))),
            '_' | 'a'..='z' | 'A'..='Z' => Some(self.word()),
            _ => self.symbol(),
        };
        let token = token.ok_or_else(|| self.error(start, first))?;
        let end = self.position;
        Ok(Some(Lexeme { token, start, end }))
    }

    fn error(&self, start: usize, first: char) -> ExpressionError {
        let reason = match first {
            '\'' => ErrorReason::UnclosedText,
            _ => ErrorReason::Character,
        };
        ExpressionError::new(self.source, start, reason)
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.position..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes).min(self.source.len());
    }

    fn skip_space(&mut self) {
        self.take_while(|character| matches!(character, ' ' | '\t' | '\r' | '\n'));
    }

    /// Consumes and returns the characters before the first one that does not belong.
    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let length = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.advance(length);
        rest.get(..length).unwrap_or_default()
    }

    fn word(&mut self) -> Token<'s> {
        let word = self.take_while(|character| character == '_' || character.is_ascii_alphanumeric());
        match KEYWORDS.iter().find(|keyword| **keyword == word) {
            Some(keyword) => Token::Symbol(keyword),
            None => Token::Identifier(word),
        }
    }

    fn text(&mut self) -> Option<Token<'s>> {
        let (text, _) = self.rest().get(1..)?.split_once('\'')?;
        self.advance(text.len().saturating_add(2));
        Some(Token::Text(text))
    }

    /// Reads a negative integer. The digits must follow the minus sign directly, because the language has no
    /// arithmetic.
    fn negative(&mut self) -> Option<Token<'s>> {
        let rest = self.rest();
        self.advance(1);
        let digits = self.take_while(|character| character.is_ascii_digit());
        let length = digits.len().checked_add(1)?;
        if digits.is_empty() { None } else { rest.get(..length).map(Token::Integer) }
    }

    fn symbol(&mut self) -> Option<Token<'s>> {
        let rest = self.rest();
        let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol))?;
        self.advance(symbol.len());
        Some(Token::Symbol(symbol))
    }
}
