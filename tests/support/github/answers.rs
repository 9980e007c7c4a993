//! What GitHub answers: pages of github.com, the REST API, and the hosts that files are redirected to.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request as HttpRequest;
use axum::response::Response;
use base64::Engine;
use capictl::http::Url;
use futures::StreamExt as _;
use http::header;
use http_body_util::BodyExt as _;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Failure, Random, Release, Repository, Request, State};

const OBJECTS: &str = "https://objects.githubusercontent.com";
const RAW: &str = "https://raw.githubusercontent.com";
const API: &str = "https://api.github.com";

pub fn router(state: Arc<Mutex<State>>) -> Router {
    Router::new().fallback(move |request: HttpRequest| {
        let state = state.clone();
        async move {
            let answer = answer(&mut state.lock().unwrap(), &request);
            match answer {
                Answer::Whole(response) => response,
                Answer::Cut(response) => cut(response).await,
                Answer::Held(response, gate) => hold(response, gate).await,
                Answer::Never => std::future::pending().await,
            }
        }
    })
}

enum Answer {
    Whole(Response),
    Cut(Response),
    Held(Response, watch::Receiver<bool>),
    Never,
}

fn answer(state: &mut State, request: &HttpRequest) -> Answer {
    let header = |name| {
        let value = request.headers().get(name)?;
        Some(value.to_str().unwrap().to_owned())
    };
    let request = Request {
        host: header(header::HOST).unwrap_or_default(),
        path: request.uri().to_string(),
        authorization: header(header::AUTHORIZATION),
        user_agent: header(header::USER_AGENT).unwrap_or_default(),
        accept: header(header::ACCEPT).unwrap_or_default(),
        range: header(header::RANGE),
        if_range: header(header::IF_RANGE),
        if_none_match: header(header::IF_NONE_MATCH),
    };
    state.requests.push(request.clone());
    match take_failure(state, &request) {
        Some(Failure::Cut) => Answer::Cut(succeed(state, &request)),
        Some(Failure::CutAndChanged) => {
            let response = succeed(state, &request);
            state.edition += 1;
            Answer::Cut(response)
        }
        Some(Failure::Hold) => Answer::Held(succeed(state, &request), state.gate.subscribe()),
        Some(Failure::Silence) => Answer::Never,
        Some(failure) => Answer::Whole(fail(&failure)),
        None => Answer::Whole(succeed(state, &request)),
    }
}

fn take_failure(state: &mut State, request: &Request) -> Option<Failure> {
    let url = request.url();
    let planned = state
        .failures
        .iter_mut()
        .find(|(part, _, times)| *times > 0 && url.contains(part.as_str()));
    if let Some((_, failure, times)) = planned {
        *times -= 1;
        return Some(failure.clone());
    }
    let (random, percent) = state.chaos.as_mut()?;
    (random.below(100) < *percent).then(|| any_failure(random))
}

fn any_failure(random: &mut Random) -> Failure {
    let codes = [400, 401, 403, 404, 429, 500, 502, 503, 504];
    match random.below(codes.len() + 4) {
        0 | 1 => Failure::Cut,
        2 => Failure::CutAndChanged,
        3 => Failure::RetryAfter(503, 0),
        other => Failure::Status(codes[other - 4]),
    }
}

fn fail(failure: &Failure) -> Response {
    let mut response = match failure {
        Failure::Status(code) | Failure::RetryAfter(code, _) => {
            message(*code, "something went wrong")
        }
        Failure::RateLimit => message(403, "API rate limit exceeded for 192.0.2.1."),
        Failure::RateLimitUntil(code, _) => {
            message(*code, "API rate limit exceeded for 192.0.2.1.")
        }
        Failure::RedirectTo(target) => redirect(target),
        Failure::Cut | Failure::CutAndChanged | Failure::Hold | Failure::Silence => {
            unreachable!("these need the real answer, or have none")
        }
    };
    let headers = response.headers_mut();
    match failure {
        Failure::RetryAfter(_, seconds) => {
            headers.insert(header::RETRY_AFTER, (*seconds).into());
        }
        Failure::RateLimit => {
            headers.insert("x-ratelimit-limit", 60.into());
            headers.insert("x-ratelimit-remaining", 0.into());
            headers.insert("x-ratelimit-reset", 4_000_000_000_u64.into());
        }
        Failure::RateLimitUntil(_, reset) => {
            headers.insert("x-ratelimit-limit", 60.into());
            headers.insert("x-ratelimit-remaining", 0.into());
            headers.insert("x-ratelimit-reset", (*reset).into());
        }
        _ => {}
    }
    response
}

/// Announces the whole body, sends half of it, and drops the connection.
async fn cut(response: Response) -> Response {
    halve(response, |_| async {
        // What is there is sent while nothing more is ready.
        tokio::task::yield_now().await;
        Err(std::io::Error::other("cut"))
    })
    .await
}

/// Sends half of the body, and the rest when the gate opens.
async fn hold(response: Response, mut gate: watch::Receiver<bool>) -> Response {
    halve(response, |rest| async move {
        gate.wait_for(|is_open| *is_open).await.ok();
        Ok(rest)
    })
    .await
}

/// Announces the whole body and sends half of it; what follows is made of the other half.
async fn halve<F>(response: Response, then: impl FnOnce(Bytes) -> F) -> Response
where
    F: Future<Output = std::io::Result<Bytes>> + Send + 'static,
{
    let (mut parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let length = body.len().max(1);
    parts.headers.insert(header::CONTENT_LENGTH, length.into());
    let (first, rest) = (body.slice(..body.len() / 2), body.slice(body.len() / 2..));
    let pieces = futures::stream::iter([Ok(first)]).chain(futures::stream::once(then(rest)));
    let body = Body::from_stream(pieces);
    Response::from_parts(parts, body)
}

fn succeed(state: &State, request: &Request) -> Response {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let decoded: Vec<String> = path
        .split('/')
        .skip(1)
        .map(|segment| percent_decode_str(segment).decode_utf8().unwrap().into())
        .collect();
    let segments: Vec<&str> = decoded.iter().map(String::as_str).collect();
    match request.host.as_str() {
        "api.github.com" => api(state, request, &segments, query),
        "ghe.acme.example" => enterprise(state, request, &segments, query),
        "files.example" => stranger(state, &segments),
        "gitlab.acme.example" => super::gitlab::answer(state, request, &segments, query),
        "go.example" | "web.example" => {
            let text = state.texts.get(&format!("{}{path}", request.host));
            let id = format!("{path}-{}", state.edition);
            text.map(|text| send(request, &id, "text/plain", text.as_bytes()))
        }
        "github.com" => page(state, &segments),
        "raw.githubusercontent.com" => raw(state, &segments),
        "objects.githubusercontent.com" => object(state, request, &segments),
        host => panic!("no certificate is for {host}"),
    }
    .map(|response| revalidate(request, response))
    .unwrap_or_else(|| message(404, "Not Found"))
}

/// Nothing is sent again of an answer that has not changed.
fn revalidate(request: &Request, response: Response) -> Response {
    let etag = response.headers().get(header::ETAG);
    let etag = etag.and_then(|etag| etag.to_str().ok());
    if etag.is_some() && etag == request.if_none_match.as_deref() {
        let mut unchanged = respond(304, "application/json", "");
        let etag = response.headers()[header::ETAG].clone();
        unchanged.headers_mut().insert(header::ETAG, etag);
        return unchanged;
    }
    response
}

/// github.com does not know tokens: what is private does not exist there.
fn page(state: &State, segments: &[&str]) -> Option<Response> {
    let [owner, name, kind, rest @ ..] = segments else {
        return None;
    };
    if let Some(new) = state.renamed.get(&format!("{owner}/{name}")) {
        let rest = [&[*kind], rest].concat().join("/");
        return Some(moved(&format!("https://github.com/{new}/{rest}")));
    }
    let repository = find(state, owner, name).filter(|repository| !repository.private)?;
    match (*kind, rest) {
        ("releases", ["download", tag, file]) => asset(repository, tag, file),
        ("raw", [reference, path @ ..]) => {
            let path = path.join("/");
            if contents(repository, reference, &path).is_some() {
                Some(redirect(&format!(
                    "{RAW}/{owner}/{name}/{reference}/{path}"
                )))
            } else {
                let page = format!("https://github.com/{owner}/{name}/tree/{reference}/{path}");
                Some(redirect(&page))
            }
        }
        ("tree", _) => Some(respond(200, "text/html; charset=utf-8", "<html></html>")),
        _ => None,
    }
}

/// Without a token there is no answer but the page that asks for a password.
fn enterprise(
    state: &State,
    request: &Request,
    segments: &[&str],
    query: &str,
) -> Option<Response> {
    match segments {
        ["api", "v3", ..] if request.authorization.is_none() => {
            Some(message(401, "Must authenticate to access this API."))
        }
        ["api", "v3", rest @ ..] => api(state, request, rest, query),
        _ => Some(respond(200, "text/html; charset=utf-8", "<html></html>")),
    }
}

/// A host with the files of `main`, and with a page for everything else; it has no API.
fn stranger(state: &State, segments: &[&str]) -> Option<Response> {
    match segments {
        ["api", ..] => None,
        [owner, name, "blob", path @ ..] => {
            let bytes = contents(find(state, owner, name)?, "main", &path.join("/"));
            Some(match bytes {
                Some(bytes) => respond(200, "text/plain", bytes.to_vec()),
                None => respond(200, "text/html; charset=utf-8", "<html></html>"),
            })
        }
        _ => None,
    }
}

/// GitHub finds out itself where the name of a branch ends.
fn raw(state: &State, segments: &[&str]) -> Option<Response> {
    let [owner, name, route @ ..] = segments else {
        return None;
    };
    let repository = find(state, owner, name).filter(|repository| !repository.private)?;
    let bytes = (1..route.len()).find_map(|length| {
        let (reference, path) = route.split_at(length);
        contents(repository, &reference.join("/"), &path.join("/"))
    })?;
    Some(respond(200, "text/plain; charset=utf-8", bytes.to_vec()))
}

/// The storage of the files of releases.
fn object(state: &State, request: &Request, segments: &[&str]) -> Option<Response> {
    let [_, id] = segments else { return None };
    let asset = state
        .repositories
        .values()
        .flat_map(|repository| &repository.releases)
        .flat_map(|release| &release.assets)
        .find(|asset| asset.id.to_string() == *id)?;
    let id = format!("{}-{}", asset.id, state.edition);
    Some(send(request, &id, "application/octet-stream", &asset.bytes))
}

/// Sends a file that goes by an ETag, or the rest of it that is asked for.
pub fn send(request: &Request, id: &str, media_type: &str, bytes: &[u8]) -> Response {
    let etag = format!("\"{id}\"");
    let range = request.range.as_deref().and_then(|range| {
        let from = range.strip_prefix("bytes=")?.strip_suffix('-')?;
        from.parse().ok().filter(|from| *from < bytes.len())
    });
    let is_same = request.if_range.as_ref() == Some(&etag);
    let mut response = match range.filter(|_| is_same) {
        Some(from) => {
            let mut part = respond(206, media_type, bytes[from..].to_vec());
            let place = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
            let headers = part.headers_mut();
            headers.insert(header::CONTENT_RANGE, place.parse().unwrap());
            part
        }
        None => respond(200, media_type, bytes.to_vec()),
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, etag.parse().unwrap());
    headers.insert(header::ACCEPT_RANGES, "bytes".parse().unwrap());
    response
}

fn api(state: &State, request: &Request, segments: &[&str], query: &str) -> Option<Response> {
    let token = request
        .authorization
        .as_deref()
        .map(|value| value.trim_start_matches("Bearer "));
    if token.is_some_and(|token| !state.tokens.contains(token)) {
        return Some(message(401, "Bad credentials"));
    }
    let (repository, rest) = match segments {
        ["repos", owner, name, rest @ ..] => {
            if let Some(new) = state.renamed.get(&format!("{owner}/{name}")) {
                let id = state.repositories[new].id;
                let query = match query {
                    "" => String::new(),
                    query => format!("?{query}"),
                };
                let rest = rest.join("/");
                return Some(moved(&format!("{API}/repositories/{id}/{rest}{query}")));
            }
            (find(state, owner, name)?, rest)
        }
        ["repositories", id, rest @ ..] => (find_by_id(state, id)?, rest),
        _ => return None,
    };
    if repository.private && token.is_none() {
        return None;
    }
    match rest {
        ["releases"] => Some(release_page(repository, query)),
        ["releases", "latest"] => newest(repository).map(|release| json_answer(&describe(release))),
        ["releases", "tags", tag] => {
            published(repository, tag).map(|release| json_answer(&describe(release)))
        }
        ["releases", "assets", id] => api_asset(repository, id, &request.accept),
        ["contents", path @ ..] => api_contents(repository, path, query, &request.accept),
        ["git", "matching-refs", kind, name @ ..] => {
            Some(matching_references(repository, kind, &name.join("/")))
        }
        _ => None,
    }
}

fn release_page(repository: &Repository, query: &str) -> Response {
    let number = |name: &str, default| {
        parameter(query, name).map_or(default, |value| value.parse::<usize>().unwrap())
    };
    let (size, page) = (number("per_page", 30).min(100), number("page", 1));
    let releases: Vec<Value> = repository.releases.iter().rev().map(describe).collect();
    let pages = releases.chunks(size).count();
    let shown = releases.chunks(size).nth(page - 1).unwrap_or_default();
    let mut response = json_answer(&json!(shown));
    if page < pages {
        let link = |page: usize, relation: &str| {
            let id = repository.id;
            format!(
                "<{API}/repositories/{id}/releases?per_page={size}&page={page}>; rel=\"{relation}\""
            )
        };
        let links = format!("{}, {}", link(page + 1, "next"), link(pages, "last"));
        let headers = response.headers_mut();
        headers.insert(header::LINK, links.parse().unwrap());
    }
    response
}

fn describe(release: &Release) -> Value {
    let assets: Vec<Value> = release
        .assets
        .iter()
        .map(|asset| {
            let state = if asset.partial { "starter" } else { "uploaded" };
            json!({"id": asset.id, "name": asset.name, "state": state, "size": asset.bytes.len()})
        })
        .collect();
    json!({
        "id": release.id,
        "tag_name": release.tag,
        "draft": release.draft,
        "prerelease": release.tag.contains('-'),
        "assets": assets,
    })
}

fn newest(repository: &Repository) -> Option<&Release> {
    repository
        .releases
        .iter()
        .rfind(|release| !release.draft && !release.tag.contains('-'))
}

fn published<'a>(repository: &'a Repository, tag: &str) -> Option<&'a Release> {
    repository
        .releases
        .iter()
        .find(|release| !release.draft && release.tag == tag)
}

fn asset(repository: &Repository, tag: &str, file: &str) -> Option<Response> {
    let release = published(repository, tag)?;
    let mut assets = release.assets.iter();
    let asset = assets.find(|asset| asset.name == file && !asset.partial)?;
    Some(redirect(&object_url(asset.id)))
}

fn api_asset(repository: &Repository, id: &str, accept: &str) -> Option<Response> {
    let mut assets = repository
        .releases
        .iter()
        .flat_map(|release| &release.assets);
    let asset = assets.find(|asset| asset.id.to_string() == id)?;
    if accept == "application/octet-stream" {
        Some(redirect(&object_url(asset.id)))
    } else {
        Some(json_answer(&json!({"id": asset.id, "name": asset.name})))
    }
}

fn object_url(id: u64) -> String {
    format!("{OBJECTS}/github-production-release-asset/{id}?X-Amz-Signature=s3cret")
}

fn api_contents(
    repository: &Repository,
    path: &[&str],
    query: &str,
    accept: &str,
) -> Option<Response> {
    let reference = parameter(query, "ref").unwrap_or_else(|| "main".into());
    let short = ["refs/heads/", "refs/tags/"].map(|prefix| reference.strip_prefix(prefix));
    let reference = short.into_iter().flatten().next().unwrap_or(&reference);
    if !repository.files.keys().any(|(known, _)| known == reference) {
        let text = format!("No commit found for the ref {reference}");
        return Some(message(404, &text));
    }
    let path = path.join("/");
    let Some(bytes) = contents(repository, reference, &path) else {
        return folder(repository, reference, &path);
    };
    if accept.contains("raw") {
        let media_type = "application/vnd.github.raw+json; charset=utf-8";
        return Some(respond(200, media_type, bytes.to_vec()));
    }
    let content = base64::engine::general_purpose::STANDARD.encode(bytes);
    Some(json_answer(&json!({
        "type": "file", "path": path, "encoding": "base64", "size": bytes.len(), "content": content,
    })))
}

fn folder(repository: &Repository, reference: &str, path: &str) -> Option<Response> {
    let prefix = if path.is_empty() {
        String::new()
    } else {
        format!("{path}/")
    };
    let files = repository.files.keys().filter(|(at, _)| at == reference);
    let names: BTreeSet<&str> = files
        .filter_map(|(_, file)| file.strip_prefix(&prefix)?.split('/').next())
        .collect();
    let entries: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "path": format!("{prefix}{name}")}))
        .collect();
    (!entries.is_empty()).then(|| json_answer(&json!(entries)))
}

/// The branches or tags whose names begin so.
fn matching_references(repository: &Repository, kind: &str, prefix: &str) -> Response {
    let is_commit = |name: &str| name.len() == 40;
    let names: BTreeSet<&String> = repository
        .files
        .keys()
        .map(|(reference, _)| reference)
        .filter(|name| name.starts_with(prefix) && !is_commit(name))
        .filter(|name| repository.tags.contains(*name) == (kind == "tags"))
        .collect();
    let references: Vec<Value> = names
        .iter()
        .map(|name| json!({"ref": format!("refs/{kind}/{name}")}))
        .collect();
    json_answer(&json!(references))
}

fn contents<'a>(repository: &'a Repository, reference: &str, path: &str) -> Option<&'a [u8]> {
    let key = (reference.to_owned(), path.to_owned());
    repository.files.get(&key).map(Vec::as_slice)
}

fn find<'a>(state: &'a State, owner: &str, name: &str) -> Option<&'a Repository> {
    state.repositories.get(&format!("{owner}/{name}"))
}

fn find_by_id<'a>(state: &'a State, id: &str) -> Option<&'a Repository> {
    state
        .repositories
        .values()
        .find(|repository| repository.id.to_string() == id)
}

pub fn parameter(query: &str, name: &str) -> Option<String> {
    let url = Url::parse(&format!("https://github.com/?{query}")).unwrap();
    let mut pairs = url.query_pairs();
    pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
}

fn redirect(target: &str) -> Response {
    let mut response = respond(302, "text/html", "");
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, target.parse().unwrap());
    response
}

/// What the API and the pages of a renamed repository answer.
fn moved(target: &str) -> Response {
    let mut response = redirect(target);
    *response.status_mut() = http::StatusCode::MOVED_PERMANENTLY;
    response
}

pub fn json_answer(value: &Value) -> Response {
    let text = value.to_string();
    let digest = text.bytes().fold(0_u64, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(byte.into())
    });
    let mut response = respond(200, "application/json; charset=utf-8", text);
    let etag = format!("\"{digest:x}\"").parse().unwrap();
    response.headers_mut().insert(header::ETAG, etag);
    response
}

fn message(code: u16, text: &str) -> Response {
    let body = json!({"message": text, "documentation_url": "https://docs.github.com/rest"});
    respond(code, "application/json; charset=utf-8", body.to_string())
}

pub fn respond(code: u16, media_type: &str, body: impl Into<Body>) -> Response {
    Response::builder()
        .status(code)
        .header(header::CONTENT_TYPE, media_type)
        .body(body.into())
        .unwrap()
}
