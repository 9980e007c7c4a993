//! Sending: what every kind of answer, and of silence, is taken for.

use std::io::Write;
use std::sync::{Arc, Mutex};

use capictl::controllers::mailgun::client::reason;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpSocket};
use tokio_rustls::TlsAcceptor;

use super::support::authority::Authority;
use super::support::mailgun::{Answer, Cut, Fault};
use super::*;

/// Tells a test that it was started again by [`run_alone`].
const ALONE: &str = "CAPICTL_TEST_ALONE";

/// What an outcome says, without its message.
fn word(outcome: &Outcome) -> (&'static str, u16, &'static str) {
    match outcome {
        Outcome::Sent { .. } => ("Sent", 0, ""),
        Outcome::SentUnread => ("SentUnread", 0, ""),
        Outcome::NotSent { reason, .. } => ("NotSent", 0, reason),
        Outcome::RateLimited { code, .. } => ("RateLimited", *code, ""),
        Outcome::Refused { code, reason, .. } => ("Refused", *code, reason),
        Outcome::Unknown { code, reason, .. } => ("Unknown", *code, reason),
    }
}

fn message_of(outcome: Outcome) -> String {
    match outcome {
        Outcome::NotSent { message, .. }
        | Outcome::RateLimited { message, .. }
        | Outcome::Refused { message, .. }
        | Outcome::Unknown { message, .. } => message,
        Outcome::Sent { .. } | Outcome::SentUnread => panic!("{outcome:?}"),
    }
}

#[tokio::test]
async fn a_mail_goes_out_with_its_identity() {
    let mailgun = Mailgun::start();
    let outcome = send(&client(&mailgun)).await;
    let id = format!("<{MID}>");
    assert_eq!(outcome, Outcome::Sent { id: id.clone() });
    let [mail] = &mailgun.mails()[..] else {
        panic!("{:?}", mailgun.mails())
    };
    let message = message();
    let expected = [
        ("from", message.from.as_str()),
        ("to", &message.to),
        ("subject", &message.subject),
        ("text", &message.text),
        ("h:Message-Id", &id),
        ("v:capi-token", TOKEN),
        ("v:capi-message-id", MID),
        ("o:tag", "capi-mailgun"),
    ];
    let fields: Vec<(&str, &str)> = mail
        .fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(fields, expected);
    let [request] = &mailgun.requests()[..] else {
        panic!("{:?}", mailgun.requests())
    };
    assert_eq!(request.user_agent, "capictl-test");
    assert_eq!(request.path, format!("/v3/{DOMAIN}/messages"));
}

#[tokio::test]
async fn the_id_is_the_one_that_mailgun_gives() {
    let mailgun = Mailgun::start();
    mailgun.fail(TOKEN, Fault::DropMessageId, 1);
    let outcome = send(&client(&mailgun)).await;
    let id = format!("<{}>", mailgun.mails()[0].id);
    assert!(!id.contains(MID));
    assert_eq!(outcome, Outcome::Sent { id });
}

/// Each case: what goes wrong, what it is taken for, and how many mails are really accepted. Nothing is tried twice.
#[tokio::test]
async fn doubt_is_neither_success_nor_failure() {
    let interrupted = ("Unknown", 0, reason::INTERRUPTED);
    let failed = |code| ("Unknown", code, reason::SERVER_ERROR);
    let answered = |code| Fault::DoAndAnswer(Answer::message(code, "Internal Server Error"));
    let page = Answer::plain(200, "<html>please log in</html>");
    let table = [
        (Fault::CutBeforeBody, interrupted, 0),
        (Fault::CutBeforeDoing, interrupted, 0),
        (Fault::DoAndCut(Cut::Silence), interrupted, 1),
        (Fault::DoAndCut(Cut::StatusLine), interrupted, 1),
        (Fault::DoAndCut(Cut::Headers), interrupted, 1),
        (Fault::DoAndCut(Cut::Body), ("SentUnread", 0, ""), 1),
        (answered(408), failed(408), 1),
        (answered(500), failed(500), 1),
        (answered(502), failed(502), 1),
        (answered(503), failed(503), 1),
        (answered(504), failed(504), 1),
        (
            answered(499),
            ("Unknown", 499, reason::UNEXPECTED_ANSWER),
            1,
        ),
        (
            Fault::Refuse(page),
            ("Unknown", 200, reason::UNEXPECTED_ANSWER),
            0,
        ),
        (
            Fault::DoAndAnswer(Answer::plain(202, "")),
            ("SentUnread", 0, ""),
            1,
        ),
    ];
    for (fault, expected, accepted) in table {
        let mailgun = Mailgun::start();
        mailgun.fail("POST", fault.clone(), 1);
        let outcome = send(&client(&mailgun)).await;
        assert_eq!(word(&outcome), expected, "{fault:?}: {outcome:?}");
        assert_eq!(mailgun.accepted(TOKEN), accepted, "{fault:?}");
        assert_eq!(mailgun.requests().len(), 1, "{fault:?}");
    }
}

#[tokio::test]
async fn an_answer_that_comes_too_late_leaves_doubt() {
    let mailgun = Mailgun::start();
    mailgun.fail("POST", Fault::DoAndDelay(Duration::from_secs(600)), 1);
    let outcome = send(&hasty_client(mailgun.url(), Duration::from_secs(2))).await;
    assert_eq!(word(&outcome), ("Unknown", 0, reason::NO_ANSWER));
    assert_eq!(mailgun.accepted(TOKEN), 1);
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let refuse = |status, message: &str| Fault::Refuse(Answer::message(status, message));
    let redirect = Answer::plain(307, "").header("Location", "/v3/elsewhere/messages");
    let table = [
        (
            refuse(400, "something is wrong"),
            400,
            reason::INVALID_MESSAGE,
        ),
        (refuse(402, "it failed"), 402, reason::REQUEST_FAILED),
        (refuse(403, "no"), 403, reason::FORBIDDEN),
        (
            refuse(403, "Domain x is not allowed to send: disabled"),
            403,
            reason::DOMAIN_NOT_ALLOWED,
        ),
        (refuse(413, "too large"), 413, reason::MESSAGE_TOO_LARGE),
        (Fault::Refuse(redirect), 307, reason::REDIRECTED),
        (
            Fault::Refuse(Answer::plain(407, "")),
            407,
            reason::PROXY_REFUSED,
        ),
    ];
    for (fault, code, expected) in table {
        let mailgun = Mailgun::start();
        mailgun.fail("POST", fault, 1);
        let outcome = send(&client(&mailgun)).await;
        assert_eq!(word(&outcome), ("Refused", code, expected), "{outcome:?}");
        assert_eq!(mailgun.mails(), []);
        assert_eq!(mailgun.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_wrong_account_is_refused() {
    let mailgun = Mailgun::start();
    let good = account(mailgun.url());
    let wrong_key = Account {
        key: Secret::new("key-wrong"),
        ..good.clone()
    };
    let wrong_domain = Account {
        domain: "other.example.org".into(),
        ..good.clone()
    };
    let wrong_base = account(&format!("{}/nowhere", mailgun.url()));
    let table = [
        (
            wrong_key,
            401,
            reason::UNAUTHORIZED,
            "Mailgun answered 401: Forbidden",
        ),
        (
            wrong_domain,
            404,
            reason::DOMAIN_NOT_FOUND,
            "Mailgun answered 404: Domain not found: other.example.org",
        ),
        (
            wrong_base,
            404,
            reason::WRONG_API_BASE,
            "Mailgun answered 404: 404 page not found",
        ),
    ];
    for (account, code, expected, text) in table {
        let outcome = send(&client_of(account)).await;
        assert_eq!(word(&outcome), ("Refused", code, expected));
        assert_eq!(message_of(outcome), text);
    }
    let sends = Account {
        key: Secret::new(SENDING_KEY),
        ..good
    };
    assert_eq!(word(&send(&client_of(sends)).await).0, "Sent");
}

#[tokio::test]
async fn a_wrong_mail_is_refused() {
    let mailgun = Mailgun::start();
    let client = client(&mailgun);
    let wrong_from = Message {
        from: "nobody".into(),
        ..message()
    };
    let wrong_to = Message {
        to: "jo@recipient".into(),
        ..message()
    };
    let outcome = client.send(&wrong_from, MID, TOKEN).await;
    assert_eq!(word(&outcome), ("Refused", 400, reason::INVALID_SENDER));
    let outcome = client.send(&wrong_to, MID, TOKEN).await;
    assert_eq!(word(&outcome), ("Refused", 400, reason::INVALID_RECIPIENT));
    let text = "Mailgun answered 400: 'to' parameter is not a valid address: [redacted]";
    assert_eq!(message_of(outcome), text);
    mailgun.authorize_only(&["somebody@recipient.example"]);
    let outcome = send(&client).await;
    assert_eq!(
        word(&outcome),
        ("Refused", 403, reason::RECIPIENT_NOT_AUTHORIZED)
    );
}

#[tokio::test]
async fn a_limit_says_how_long_to_wait() {
    let soon = || std::time::SystemTime::now() + Duration::from_secs(100);
    let seconds = soon()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    let date = k8s_openapi::jiff::Timestamp::try_from(soon())
        .unwrap()
        .strftime("%a, %d %b %Y %H:%M:%S UTC")
        .to_string();
    let limit = |text: &str| Answer::message(429, text);
    let table = [
        (
            limit("slow down").header("X-RateLimit-Reset", seconds),
            Some(100),
        ),
        (limit("slow down").header("Retry-After", 100), Some(100)),
        (
            limit(&format!("recipient limit exceeded, try again after {date}")),
            Some(100),
        ),
        (
            limit("message limit reached, try again after 100 seconds"),
            Some(100),
        ),
        (limit("slow down"), None),
        (Answer::plain(420, "slow down"), None),
    ];
    for (answer, expected) in table {
        let mailgun = Mailgun::start();
        mailgun.fail("POST", Fault::Refuse(answer.clone()), 1);
        let Outcome::RateLimited { code, wait, .. } = send(&client(&mailgun)).await else {
            panic!("{answer:?}")
        };
        assert_eq!(code, answer.status);
        // The answer's own clock has whole seconds, and time passes.
        let fits = |wait: Duration| (80..=101).contains(&wait.as_secs());
        assert_eq!(wait.is_some(), expected.is_some(), "{answer:?}");
        assert!(wait.is_none_or(fits), "{answer:?}: {wait:?}");
        assert_eq!(mailgun.mails(), []);
    }
}

#[tokio::test]
async fn without_a_connection_nothing_is_sent() {
    let mailgun = Mailgun::start();
    // Bound, but nobody listens.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let refusing = socket.local_addr().unwrap();
    // The system accepts, nobody speaks.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_address = silent.local_addr().unwrap();
    let untrusted = untrusted_server().await;
    let plain = mailgun.url().replace("http:", "https:");
    let table = [
        (format!("http://{refusing}"), Some(reason::UNREACHABLE)),
        (plain, Some(reason::UNREACHABLE)),
        (
            format!("https://{silent_address}"),
            Some(reason::CONNECT_TIMEOUT),
        ),
        (
            format!("https://{untrusted}"),
            Some(reason::CERTIFICATE_NOT_TRUSTED),
        ),
        // By the resolver, it is not found, or there is no resolver.
        ("http://mailgun.invalid".into(), None),
    ];
    for (base, expected) in table {
        let is_hasty = expected == Some(reason::CONNECT_TIMEOUT);
        let client = if is_hasty {
            hasty_client(&base, Duration::from_millis(400))
        } else {
            client_of(account(&base))
        };
        let outcome = send(&client).await;
        let Outcome::NotSent { reason, message } = &outcome else {
            panic!("{base}: {outcome:?}")
        };
        assert!(
            expected.is_none_or(|expected| expected == *reason),
            "{base}: {outcome:?}"
        );
        assert!(
            message.contains(&base) && message.contains(": "),
            "{message}"
        );
    }
    assert_eq!(mailgun.mails(), []);
}

/// Serves TLS with a certificate that nobody trusts.
async fn untrusted_server() -> std::net::SocketAddr {
    let authority = Authority::new("nobody's").unwrap();
    let identity = authority.issue_server("server", &["127.0.0.1"]).unwrap();
    let chain = vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            acceptor.accept(stream).await.ok();
        }
    });
    address
}

/// Starts the test again in a process of its own; the libraries read its environment, and all its threads log alike.
fn run_alone(test: &str, environment: &[(&str, &str)]) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("client::{test}"), "--nocapture"])
        .env_clear()
        .env(ALONE, "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}");
}

fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

#[tokio::test]
async fn a_proxy_comes_from_the_environment() {
    if is_alone() {
        let outcome = send(&client_of(account("http://mailgun.invalid"))).await;
        assert_eq!(word(&outcome).0, "Sent", "{outcome:?}");
        let outcome = send(&client_of(account("us"))).await;
        assert_eq!(
            word(&outcome),
            ("NotSent", 0, reason::PROXY_REFUSED),
            "{outcome:?}"
        );
        return;
    }
    let proxy = Mailgun::start();
    proxy.fail("CONNECT", Fault::Refuse(Answer::plain(407, "")), 1);
    let variables = [("HTTP_PROXY", proxy.url()), ("HTTPS_PROXY", proxy.url())];
    run_alone("a_proxy_comes_from_the_environment", &variables);
    let paths: Vec<String> = proxy
        .requests()
        .into_iter()
        .map(|request| request.path)
        .collect();
    let expected = [
        format!("/v3/{DOMAIN}/messages"),
        "api.mailgun.net:443".to_owned(),
    ];
    assert_eq!(paths, expected);
    assert_eq!(proxy.mails().len(), 1);
}

#[tokio::test]
async fn a_thousand_mails_go_out_at_once() {
    let mailgun = Mailgun::start();
    mailgun.answer_after(Duration::from_millis(50));
    let client = client(&mailgun);
    let sends = (0..1000).map(|number| {
        let client = client.clone();
        async move {
            let (mid, token) = (format!("{number}@{DOMAIN}"), number.to_string());
            client.send(&message(), &mid, &token).await
        }
    });
    let outcomes: Vec<Outcome> = futures::StreamExt::collect(futures::StreamExt::buffer_unordered(
        futures::stream::iter(sends),
        100,
    ))
    .await;
    assert!(outcomes.iter().all(|outcome| word(outcome).0 == "Sent"));
    assert!((0..1000).all(|number| mailgun.accepted(&number.to_string()) == 1));
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The server repeats everything that it was sent, and everything is logged that any library has to say.
#[tokio::test]
async fn nothing_shows_a_key_an_address_or_the_mail() {
    if !is_alone() {
        return run_alone("nothing_shows_a_key_an_address_or_the_mail", &[]);
    }
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let account = |base: &str| Account {
        events_key: Some(Secret::new("key-events-77")),
        ..account(base)
    };
    let mut shown = String::new();
    for status in [200, 302, 400, 401, 403, 404, 413, 429, 500, 503] {
        let mailgun = Mailgun::start();
        mailgun.script(move |request| {
            let key = request.key.clone().unwrap_or_default();
            let said = format!(
                "bad: {key} {:?} {}",
                request.fields,
                request.field("text").unwrap_or("-")
            );
            let words = said.replace('"', "");
            let subject = request.field("subject").unwrap_or("-");
            let body = serde_json::json!({ "message": words, "error": subject });
            Some(Fault::Refuse(Answer::json(status, &body)))
        });
        let client = client_of(account(mailgun.url()));
        let since = k8s_openapi::jiff::Timestamp::now();
        shown += &format!("{client:?} {:?} {:?}\n", message(), send(&client).await);
        shown += &format!("{:?}\n", client.look_up(MID, since).await);
        mailgun.behave();
        mailgun.authorize_only(&[]);
        shown += &format!("{:?}\n", send(&client).await);
    }
    for base in ["http://127.0.0.1:1", "https://127.0.0.1:1"] {
        shown += &format!("{:?}\n", send(&client_of(account(base))).await);
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(
        log.contains("answered") && log.contains(DOMAIN),
        "there is a log:\n{log}"
    );
    let credentials =
        base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("api:{KEY}"));
    let secrets = [
        KEY,
        &credentials,
        "key-events-77",
        "Jo Doe",
        "recipient.example",
        "sender.example",
        "ExtremelyUrgent",
        "One cluster",
        "sugar",
    ];
    for secret in secrets {
        for (place, text) in [("outcomes", &shown), ("log", &log)] {
            assert!(
                !text.contains(secret),
                "`{secret}` is in the {place}:\n{text}"
            );
        }
    }
}
