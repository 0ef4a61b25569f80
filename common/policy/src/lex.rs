//! Text into tokens. Knows characters, not grammar.

use crate::flaw::{Flaw, FlawReason};

/// The smallest parts of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A name, such as a root, a member or a variable.
    Identifier(&'s str),
    /// Decimal digits, perhaps after a minus sign.
    Integer(&'s str),
    /// A string without its quotes.
    Text(&'s str),
    /// A keyword, operator or bracket, as written.
    Symbol(&'static str),
}

/// A token and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme<'s> {
    pub(crate) token: Token<'s>,
    /// First byte.
    pub(crate) start: usize,
    /// First byte after it.
    pub(crate) end: usize,
}

/// Words that are no identifiers.
const KEYWORDS: [&str; 3] = ["false", "in", "true"];

/// Operators and brackets; of two that share a beginning the longer one first.
const SYMBOLS: [&str; 19] =
    ["||", "&&", "==", "!=", "<=", ">=", "..", "<", ">", "!", ".", ",", ":", "(", ")", "[", "]", "{", "}"];

/// Reads tokens from the start of a text to its end.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    position: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, position: 0 }
    }

    /// The next token, or `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<Lexeme<'s>>, Flaw> {
        self.skip_space();
        let start = self.position;
        let Some(first) = self.rest().chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '\'' => self.text(),
            '-' => self.negative(),
            '0'..='9' => Some(Token::Integer(self.take(|character| character.is_ascii_digit()))),
            '_' | 'a'..='z' | 'A'..='Z' => Some(self.word()),
            _ => self.symbol(),
        };
        let token = token.ok_or_else(|| self.flaw(start, first))?;
        let end = self.position;
        Ok(Some(Lexeme { token, start, end }))
    }

    fn flaw(&self, start: usize, first: char) -> Flaw {
        let reason = match first {
            '\'' => FlawReason::OpenText,
            _ => FlawReason::Character,
        };
        Flaw::new(self.source, start, reason)
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.position..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes).min(self.source.len());
    }

    fn skip_space(&mut self) {
        self.take(|character| matches!(character, ' ' | '\t' | '\r' | '\n'));
    }

    /// Takes the characters up to the first that does not belong.
    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let length = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        self.advance(length);
        rest.get(..length).unwrap_or_default()
    }

    fn word(&mut self) -> Token<'s> {
        let word = self.take(|character| character == '_' || character.is_ascii_alphanumeric());
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

    /// A minus sign belongs to the digits that follow at once; the language has no arithmetic.
    fn negative(&mut self) -> Option<Token<'s>> {
        let rest = self.rest();
        self.advance(1);
        let digits = self.take(|character| character.is_ascii_digit());
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
