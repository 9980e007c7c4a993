//! The mail that a MailgunCluster asks for. Its wording is that of the implementers' guide.

use sha2::{Digest, Sha256};

use super::api::MailgunClusterSpec;

/// How the subject reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SubjectStyle {
    /// `[Urgent] New Cluster requested`
    #[default]
    Seed,
    /// `[Urgent] New Cluster NAME requested`, as the book has it.
    Book,
}

/// A mail, ready to be sent. It prints without its text and addresses.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Sender.
    pub from: String,
    /// Recipient.
    pub to: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub text: String,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Message({})", self.digest())
    }
}

/// Why no mail can be made of a spec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessage {
    /// No sender.
    #[error("spec.requester is empty: it must be an address or a domain")]
    NoSender,
    /// A line break would let a spec add headers to the mail.
    #[error("spec.{0} has a line break, which no header of a mail may have")]
    LineBreak(&'static str),
}

impl Message {
    /// Makes the mail of a spec.
    ///
    /// # Errors
    /// The sender is missing, or a header would have a line break.
    pub fn of(
        spec: &MailgunClusterSpec,
        cluster_name: &str,
        recipient: &str,
        style: SubjectStyle,
    ) -> Result<Self, InvalidMessage> {
        for (field, text) in [("priority", &spec.priority), ("requester", &spec.requester)] {
            if text.contains(['\r', '\n']) {
                return Err(InvalidMessage::LineBreak(field));
            }
        }
        let requester = spec.requester.trim();
        let from = match requester {
            "" => return Err(InvalidMessage::NoSender),
            address if address.contains('@') => address.to_owned(),
            domain => format!("Cluster API Sandbox Provider <mailgun@{domain}>"),
        };
        let subject = match style {
            SubjectStyle::Seed => format!("[{}] New Cluster requested", spec.priority),
            SubjectStyle::Book => {
                format!("[{}] New Cluster {cluster_name} requested", spec.priority)
            }
        };
        let text = format!("Hello! One cluster please.\n\n{}\n", spec.request);
        Ok(Self {
            from,
            to: recipient.to_owned(),
            subject,
            text,
        })
    }

    /// Returns the SHA-256 of sender, recipient, subject and text, in hex: tells whether a mail changed without
    /// telling the mail.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for part in [&self.from, &self.to, &self.subject, &self.text] {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        hash.finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Returns the domain that the mail claims to come from.
    pub fn sender_domain(&self) -> &str {
        let address = self.from.rsplit_once('@').map_or("", |(_, domain)| domain);
        address.trim_end_matches('>')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(requester: &str) -> MailgunClusterSpec {
        MailgunClusterSpec {
            priority: "ExtremelyUrgent".into(),
            request: "Please make me a cluster, with sugar on top?".into(),
            requester: requester.into(),
            control_plane_endpoint: None,
        }
    }

    #[test]
    fn the_words_are_those_of_the_guide() {
        let message = Message::of(
            &spec("example.org"),
            "hello",
            "to@example.org",
            SubjectStyle::Seed,
        )
        .unwrap();
        assert_eq!(
            message.from,
            "Cluster API Sandbox Provider <mailgun@example.org>"
        );
        assert_eq!(message.subject, "[ExtremelyUrgent] New Cluster requested");
        assert_eq!(
            message.text,
            "Hello! One cluster please.\n\nPlease make me a cluster, with sugar on top?\n"
        );
        assert_eq!(message.sender_domain(), "example.org");
        let message = Message::of(
            &spec("me@example.org"),
            "hello",
            "to@example.org",
            SubjectStyle::Book,
        )
        .unwrap();
        assert_eq!(message.from, "me@example.org");
        assert_eq!(
            message.subject,
            "[ExtremelyUrgent] New Cluster hello requested"
        );
    }

    #[test]
    fn no_spec_adds_headers() {
        let of = |spec: MailgunClusterSpec| {
            Message::of(&spec, "hello", "to@example.org", SubjectStyle::Seed)
        };
        assert_eq!(
            of(spec("a@b.org\r\nBcc: x@y.org")),
            Err(InvalidMessage::LineBreak("requester"))
        );
        assert_eq!(of(spec(" ")), Err(InvalidMessage::NoSender));
        let priority = MailgunClusterSpec {
            priority: "a\nb".into(),
            ..spec("b.org")
        };
        assert_eq!(of(priority), Err(InvalidMessage::LineBreak("priority")));
    }

    #[test]
    fn nothing_of_the_mail_is_printed() {
        let message = Message::of(
            &spec("me@example.org"),
            "hello",
            "to@example.org",
            SubjectStyle::Seed,
        )
        .unwrap();
        let printed = format!("{message:?}");
        assert!(
            !printed.contains("example.org") && !printed.contains("sugar"),
            "{printed}"
        );
    }
}
