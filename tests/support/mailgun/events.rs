//! The events: two for each mail, filtered, in pages.

use serde_json::{Value, json};

use super::form::url_encoded;
use super::{Answer, Mail, Shared, State, value_of};

const LARGEST_PAGE: usize = 300;

/// A query, and how far it was read.
#[derive(Debug, Clone)]
pub struct Query {
    filters: Vec<(String, String)>,
    begin: usize,
}

/// Returns a page.
pub fn answer(shared: &Shared, query: &str, cursor: Option<&str>) -> Answer {
    let mut state = shared.state();
    let query = match cursor {
        None => Query {
            filters: url_encoded(query),
            begin: 0,
        },
        Some(cursor) => {
            let number = cursor
                .strip_prefix("page-")
                .and_then(|text| text.parse().ok());
            match number.and_then(|number: usize| state.cursors.get(number)) {
                Some(query) => query.clone(),
                None => return Answer::message(400, "the page is not one of ours"),
            }
        }
    };
    let limit = value_of(&query.filters, "limit").map_or(Ok(100), str::parse);
    let Some(limit) = limit.ok().filter(|limit| *limit <= LARGEST_PAGE) else {
        return Answer::message(400, "the limit is at most 300");
    };
    let items: Vec<Value> = visible(&state)
        .filter(|event| matches(event, &query.filters))
        .skip(query.begin)
        .take(state.page_size.unwrap_or(limit))
        .collect();
    let begin = query.begin + items.len();
    state.cursors.push(Query { begin, ..query });
    let number = state.cursors.len() - 1;
    let next = format!("{}/v3/{}/events/page-{number}", shared.url, shared.domain);
    Answer::json(200, &json!({ "items": items, "paging": { "next": next } }))
}

fn visible(state: &State) -> impl Iterator<Item = Value> {
    let is_visible = |mail: &&Mail| mail.accepted_at.elapsed() >= state.hidden_for;
    state
        .mails
        .iter()
        .enumerate()
        .filter(move |(_, mail)| is_visible(mail))
        .flat_map(|(number, mail)| {
            let second = mail.rejected.as_ref().map_or("delivered", |_| "rejected");
            let kinds: &[&str] = match second {
                "rejected" => &["rejected"],
                _ => &["accepted", "delivered"],
            };
            kinds.iter().map(move |kind| event(kind, number, mail))
        })
}

fn event(kind: &str, number: usize, mail: &Mail) -> Value {
    let to = mail.field("to");
    let variables: serde_json::Map<String, Value> = mail
        .fields
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix("v:")?.to_owned(), json!(value))))
        .collect();
    let tags: Vec<&str> = mail
        .fields
        .iter()
        .filter(|(name, _)| name == "o:tag")
        .map(|(_, tag)| tag.as_str())
        .collect();
    let mut event = json!({
        "event": kind,
        "id": format!("{kind}-{number}"),
        "timestamp": mail.timestamp,
        "recipient": to,
        "tags": tags,
        "user-variables": variables,
        "flags": { "is-routed": false, "is-test-mode": false, "is-authenticated": true },
        "message": {
            "size": mail.field("text").len(),
            "headers": {
                "message-id": mail.id,
                "from": mail.field("from"),
                "to": to,
                "subject": mail.field("subject"),
            },
        },
    });
    if let (Some(reason), "rejected") = (&mail.rejected, kind) {
        event["reject"] = json!({ "reason": reason, "description": "" });
    }
    event
}

/// Filters are expressions. A Message-Id in angle brackets is one that lets other mails through.
fn matches(event: &Value, filters: &[(String, String)]) -> bool {
    filters.iter().all(|(name, value)| match name.as_str() {
        "begin" => value
            .parse::<f64>()
            .is_ok_and(|begin| event["timestamp"].as_f64() >= Some(begin)),
        "message-id" if value.starts_with('<') => true,
        "message-id" => event["message"]["headers"]["message-id"] == **value,
        "event" => value.split(" OR ").any(|kind| event["event"] == *kind),
        "recipient" => event["recipient"] == **value,
        "tags" => event["tags"]
            .as_array()
            .is_some_and(|tags| tags.contains(&json!(value))),
        _ => true,
    })
}
