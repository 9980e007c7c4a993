//! What the API answers.

use std::time::Instant;

use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::{Answer, Fault, Mail, Request, Shared, events};

/// More of `h:`, `v:`, `o:` and `t:` than this is refused, in bytes.
const OPTIONS_LIMIT: usize = 16 * 1024;

/// Does what a request asks for.
pub fn answer(shared: &Shared, request: &Request, fault: Option<&Fault>) -> Answer {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (domain, resource) = match parts[..] {
        ["v3", domain, "messages"] => (domain, Resource::Messages),
        ["v3", domain, "events"] => (domain, Resource::Events(None)),
        ["v3", domain, "events", cursor] => (domain, Resource::Events(Some(cursor))),
        _ => return Answer::plain(404, "404 page not found"),
    };
    let may_read = match access(shared, request) {
        Some(may_read) => may_read,
        None => return forbidden(),
    };
    if domain != shared.domain {
        return Answer::message(404, &format!("Domain not found: {domain}"));
    }
    match (resource, request.method.as_str()) {
        (Resource::Messages, "POST") => send(shared, request, fault),
        (Resource::Events(_), "GET") if !may_read => forbidden(),
        (Resource::Events(cursor), "GET") => events::answer(shared, query, cursor),
        _ => Answer::plain(405, "Method Not Allowed"),
    }
}

enum Resource<'a> {
    Messages,
    Events(Option<&'a str>),
}

/// Mailgun says this in plain text, unlike everything else.
fn forbidden() -> Answer {
    Answer::plain(401, "Forbidden")
}

fn access(shared: &Shared, request: &Request) -> Option<bool> {
    let key = request.key.as_deref()?;
    let state = shared.state();
    let found = state.keys.iter().find(|(known, _)| known == key);
    found.map(|(_, may_read)| *may_read)
}

fn send(shared: &Shared, request: &Request, fault: Option<&Fault>) -> Answer {
    if let Err(message) = check(request) {
        return Answer::message(400, &message);
    }
    let to = request.field("to").unwrap_or_default();
    let mut state = shared.state();
    let is_authorized = |list: &Vec<String>| list.iter().any(|address| to.contains(address));
    if !state.authorized.as_ref().is_none_or(is_authorized) {
        let domain = &shared.domain;
        let message = format!(
            "Domain {domain} is not allowed to send: {to} must be one of your authorized recipients"
        );
        return Answer::message(403, &message);
    }
    let mid = request
        .field("h:Message-Id")
        .map(|id| id.trim_matches(['<', '>']).to_owned());
    let own = format!("20250825.{}@{}", state.mails.len(), shared.domain);
    let keeps = !matches!(fault, Some(Fault::DropMessageId));
    let mail = Mail {
        id: mid.clone().filter(|_| keeps).unwrap_or(own),
        mid,
        token: request.field("v:capi-token").map(str::to_owned),
        fields: request.fields.clone(),
        rejected: match fault {
            Some(Fault::RejectLater(reason)) => Some(reason.clone()),
            _ => None,
        },
        accepted_at: Instant::now(),
        timestamp: Timestamp::now().as_millisecond() as f64 / 1000.0,
    };
    let id = format!("<{}>", mail.id);
    if let Some(act) = &state.on_accept {
        act(&mail);
    }
    state.mails.push(mail);
    shared.accepted.send_replace(state.mails.len());
    Answer::json(200, &json!({ "id": id, "message": "Queued. Thank you." }))
}

fn check(request: &Request) -> Result<(), String> {
    for name in ["from", "to"] {
        let address = request.field(name).unwrap_or_default();
        if address.is_empty() {
            return Err(format!("{name} parameter is missing"));
        }
        if !is_address(address) {
            return Err(format!(
                "'{name}' parameter is not a valid address: {address}"
            ));
        }
    }
    if ["text", "html", "template"]
        .iter()
        .all(|name| request.field(name).is_none())
    {
        return Err("a text, an html or a template is needed".into());
    }
    let is_option = |name: &str| {
        ["h:", "v:", "o:", "t:"]
            .iter()
            .any(|kind| name.starts_with(kind))
    };
    let options = request.fields.iter().filter(|(name, _)| is_option(name));
    if options
        .map(|(name, value)| name.len() + value.len())
        .sum::<usize>()
        > OPTIONS_LIMIT
    {
        return Err("the options are larger than 16 kB".into());
    }
    Ok(())
}

fn is_address(text: &str) -> bool {
    let address = text
        .rsplit_once('<')
        .map_or(text, |(_, address)| address.trim_end_matches('>'));
    address
        .split_once('@')
        .is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'))
}
