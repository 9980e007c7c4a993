//! What a GitLab answers: the package registry of its projects. It is at `gitlab.acme.example`, behind a proxy of which it
//! does not know that it speaks https: its links to next pages are wrong in that, as they often are.

use axum::response::Response;
use http::header;
use serde_json::{Value, json};

use super::answers::{json_answer, parameter, respond, send};
use super::{Request, State};

/// A project with generic packages.
#[derive(Default)]
pub struct Project {
    pub private: bool,
    pub packages: Vec<Package>,
}

/// A version of a package.
pub struct Package {
    pub name: String,
    pub version: String,
    pub status: String,
    pub files: Vec<(String, Vec<u8>)>,
}

pub fn answer(
    state: &State,
    request: &Request,
    segments: &[&str],
    query: &str,
) -> Option<Response> {
    let ["api", "v4", "projects", project, rest @ ..] = segments else {
        return None;
    };
    let token = request.authorization.as_deref();
    let token = token.map(|value| value.trim_start_matches("Bearer "));
    if token.is_some_and(|token| !state.tokens.contains(token)) {
        return Some(refusal(401, "401 Unauthorized"));
    }
    let project = match state.projects.get(*project) {
        Some(project) if !project.private || token.is_some() => project,
        _ => return Some(refusal(404, "404 Project Not Found")),
    };
    match rest {
        ["packages"] => Some(page(project, request, query)),
        ["packages", "generic", name, version, file] => {
            let mut packages = project.packages.iter();
            let package =
                packages.find(|package| package.name == *name && package.version == *version);
            let mut files = package.into_iter().flat_map(|package| &package.files);
            let (_, bytes) = files.find(|(known, _)| known == file)?;
            let id = format!("{version}-{file}-{}", state.edition);
            Some(send(request, &id, "application/octet-stream", bytes))
        }
        _ => None,
    }
}

/// Names are searched for as parts.
fn page(project: &Project, request: &Request, query: &str) -> Response {
    let text = |name| parameter(query, name).unwrap_or_default();
    let number = |name, default| text(name).parse::<usize>().unwrap_or(default);
    let (size, page) = (number("per_page", 20).min(100), number("page", 1));
    let found: Vec<Value> = project
        .packages
        .iter()
        .filter(|package| package.name.contains(&text("package_name")))
        .map(|package| {
            json!({
                "name": package.name, "version": package.version,
                "package_type": "generic", "status": package.status,
            })
        })
        .collect();
    let shown = found.chunks(size).nth(page - 1).unwrap_or_default();
    let mut response = json_answer(&json!(shown));
    if page < found.chunks(size).count() {
        let (path, _) = request.path.split_once('?').unwrap();
        let link = format!(
            "<http://{}{path}?page={}&per_page={size}>; rel=\"next\"",
            request.host,
            page + 1
        );
        let headers = response.headers_mut();
        headers.insert(header::LINK, link.parse().unwrap());
    }
    response
}

fn refusal(code: u16, text: &str) -> Response {
    let body = json!({"message": text}).to_string();
    respond(code, "application/json", body)
}
