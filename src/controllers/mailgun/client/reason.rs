//! Why a mail was not sent, or may not have been, in one word for a condition, and what a person can do about it.

/// Mailgun wants the recipient to agree first: sandbox domains and free accounts.
pub const RECIPIENT_NOT_AUTHORIZED: &str = "RecipientNotAuthorized";
/// The domain may not send: not verified, disabled, over its plan.
pub const DOMAIN_NOT_ALLOWED: &str = "DomainNotAllowed";
/// Mailgun does not know the domain, in this region at least.
pub const DOMAIN_NOT_FOUND: &str = "DomainNotFound";
/// What answers is not Mailgun's API, or not at this path.
pub const WRONG_API_BASE: &str = "WrongApiBase";
/// The sender's address is malformed.
pub const INVALID_SENDER: &str = "InvalidSender";
/// The recipient's address is malformed.
pub const INVALID_RECIPIENT: &str = "InvalidRecipient";
/// Something else about the mail is malformed.
pub const INVALID_MESSAGE: &str = "InvalidMessage";
/// The mail is too large.
pub const MESSAGE_TOO_LARGE: &str = "MessageTooLarge";
/// The key is wrong.
pub const UNAUTHORIZED: &str = "Unauthorized";
/// The key is right, but it may not do this.
pub const FORBIDDEN: &str = "Forbidden";
/// Mailgun found nothing wrong, and yet did not do it: 402.
pub const REQUEST_FAILED: &str = "RequestFailed";
/// A redirect, which is never followed.
pub const REDIRECTED: &str = "Redirected";
/// Another refusal.
pub const REFUSED: &str = "Refused";
/// Too many requests, mails or recipients.
pub const RATE_LIMITED: &str = "RateLimited";
/// No connection.
pub const UNREACHABLE: &str = "Unreachable";
/// No connection in time.
pub const CONNECT_TIMEOUT: &str = "ConnectTimeout";
/// The proxy does not let the request through.
pub const PROXY_REFUSED: &str = "ProxyRefused";
/// The server's certificate is not trusted.
pub const CERTIFICATE_NOT_TRUSTED: &str = "CertificateNotTrusted";
/// The HTTP client cannot be set up.
pub const CLIENT_SETUP: &str = "ClientSetup";
/// The request was written, and no answer came in time.
pub const NO_ANSWER: &str = "NoAnswer";
/// The connection ended before the answer.
pub const INTERRUPTED: &str = "Interrupted";
/// Mailgun, or something on the way to it, failed: 5xx and 408.
pub const SERVER_ERROR: &str = "ServerError";
/// An answer that Mailgun does not give.
pub const UNEXPECTED_ANSWER: &str = "UnexpectedAnswer";
/// A look-up does not come to its end.
pub const ENDLESS_PAGES: &str = "EndlessPages";

/// Returns what a person can do about a reason, as a line without final period; `None` where waiting is all.
pub fn remedy(reason: &str) -> Option<&'static str> {
    Some(match reason {
        RECIPIENT_NOT_AUTHORIZED => {
            "add the address in `MAIL_RECIPIENT` to the authorized recipients of the domain in Mailgun's control panel, \
             and accept the invitation that it gets; or send through a domain of your own"
        }
        DOMAIN_NOT_ALLOWED => {
            "look the domain up in Mailgun's control panel: it must be verified and active, and the account in good standing"
        }
        DOMAIN_NOT_FOUND => {
            "check `MAILGUN_DOMAIN`; a domain of the EU region is found there only, set `MAILGUN_API_BASE=eu`"
        }
        WRONG_API_BASE | REDIRECTED | UNEXPECTED_ANSWER => {
            "check `MAILGUN_API_BASE`: `us`, `eu`, or a URL like `https://api.mailgun.net`"
        }
        INVALID_SENDER => {
            "correct `spec.requester` of the MailgunCluster: an address, or the domain to send from"
        }
        INVALID_RECIPIENT => "correct the address in `MAIL_RECIPIENT`",
        INVALID_MESSAGE => "correct the spec of the MailgunCluster",
        MESSAGE_TOO_LARGE => "shorten `spec.request` of the MailgunCluster",
        UNAUTHORIZED => "check `MAILGUN_API_KEY`: an account key, or a sending key of this domain",
        FORBIDDEN => {
            "give the key the right to do this; a domain's sending key cannot read events, set `MAILGUN_EVENTS_API_KEY` \
             to one that can"
        }
        REQUEST_FAILED | REFUSED => "look at the account and the domain in Mailgun's control panel",
        UNREACHABLE | CONNECT_TIMEOUT => {
            "check the network, and `MAILGUN_API_BASE`; a proxy is taken from `HTTPS_PROXY`, exceptions from `NO_PROXY`"
        }
        PROXY_REFUSED => {
            "check the address and the credentials in `HTTPS_PROXY`, or list the host in `NO_PROXY`"
        }
        CERTIFICATE_NOT_TRUSTED => {
            "where a proxy inspects TLS, name a PEM file with its CA certificate by `SSL_CERT_FILE`"
        }
        CLIENT_SETUP => {
            "install the system's CA certificates, or name a PEM file of them by `SSL_CERT_FILE`"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_domain_may_be_in_the_other_region() {
        let remedy = remedy(DOMAIN_NOT_FOUND).unwrap();
        assert!(remedy.contains("MAILGUN_API_BASE=eu"), "{remedy}");
    }

    #[test]
    fn where_waiting_helps_there_is_no_advice() {
        for reason in [RATE_LIMITED, NO_ANSWER, INTERRUPTED, SERVER_ERROR] {
            assert_eq!(remedy(reason), None);
        }
    }
}
