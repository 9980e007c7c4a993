//! Makes what a server says fit for conditions, events and logs: without keys, addresses and the mail.

use crate::controllers::mailgun::message::Message;
use crate::model::Secret;

const MASK: &str = "[redacted]";
/// Longest text that is shown, in characters.
const LONGEST: usize = 200;
/// Pieces of a mail shorter than this say nothing, and would be found everywhere.
const SHORTEST_PIECE: usize = 4;
/// So many words of a mail in a row are a quotation.
const QUOTATION: usize = 3;

/// What must not be shown.
#[derive(Default)]
pub(super) struct Redaction {
    pieces: Vec<String>,
    quotations: Vec<String>,
}

impl Redaction {
    /// Returns one that hides keys.
    pub(super) fn of_keys<'a>(keys: impl IntoIterator<Item = &'a Secret>) -> Self {
        let pieces = keys.into_iter().map(|key| key.expose().to_owned());
        Self {
            pieces: pieces.collect(),
            quotations: Vec::new(),
        }
    }

    /// Hides a mail too.
    pub(super) fn and_mail(mut self, message: &Message) -> Self {
        let Message {
            from,
            to,
            subject,
            text,
        } = message;
        for part in [from, to, subject]
            .into_iter()
            .map(String::as_str)
            .chain(text.lines())
        {
            let words: Vec<&str> = part.split_whitespace().collect();
            self.pieces.push(words.join(" "));
            self.quotations
                .extend(words.windows(QUOTATION).map(|words| words.join(" ")));
        }
        self.pieces.retain(|piece| piece.len() >= SHORTEST_PIECE);
        self.pieces
            .sort_by_key(|piece| std::cmp::Reverse(piece.len()));
        self
    }

    /// Returns a text as one line that may be shown; nothing if it quotes from the mail.
    pub(super) fn apply(&self, text: &str) -> String {
        let line = one_line(text);
        let masked = self
            .pieces
            .iter()
            .fold(line, |line, piece| line.replace(piece.as_str(), MASK));
        if self.quotations.iter().any(|words| masked.contains(words)) {
            return String::new();
        }
        let words = masked
            .split(' ')
            .map(|word| if word.contains('@') { MASK } else { word });
        let shown: String = words
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(LONGEST)
            .collect();
        shown.trim_end_matches(['.', ' ']).to_owned()
    }
}

/// Control characters would reach terminals.
fn one_line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction() -> Redaction {
        let message = Message {
            from: "Some Body <me@example.org>".into(),
            to: "You <you@example.org>".into(),
            subject: "[Urgent] New Cluster requested".into(),
            text: "Hello! One cluster please.\n\nsugar\n".into(),
        };
        Redaction::of_keys([&Secret::new("key-0123")]).and_mail(&message)
    }

    #[test]
    fn nothing_of_the_mail_and_no_key_is_shown() {
        let table = [
            ("a key-0123 b", "a [redacted] b"),
            (
                "`to` YOU@example.org, is not valid.",
                "`to` [redacted] is not valid",
            ),
            ("see Some Body <me@example.org>", "see [redacted]"),
            ("with sugar\ton top", "with [redacted] on top"),
            (
                "bad subject [Urgent]  New\n Cluster requested!",
                "bad subject [redacted]!",
            ),
            ("your text Hello! One cluster is bad", ""),
            (
                "please check the documentation.",
                "please check the documentation",
            ),
            ("\u{1b}[31mred", "[31mred"),
        ];
        for (text, expected) in table {
            assert_eq!(redaction().apply(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(redaction().apply(&"ü".repeat(300)).chars().count(), LONGEST);
    }
}
