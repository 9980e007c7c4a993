//! Each way to fail at each kind of request: the right result after all, or one message that says where, what and what next.

use super::support::github::{Failure, GitHub};
use super::*;

const URL: &str = "https://github.com/acme/demo/releases/latest/components.yaml";
const COMPONENTS: &str = "kind: Namespace\n";

/// The kinds of requests: what their URLs contain, and whether they are made for a private repository.
const REQUESTS: [(&str, bool); 6] = [
    ("/releases?per_page=", false),
    ("github.com/acme/demo/releases/download/", false),
    ("objects.githubusercontent.com", false),
    ("/releases?per_page=", true),
    ("/releases/tags/", true),
    ("/releases/assets/", true),
];

fn failures() -> Vec<(Failure, &'static str)> {
    let mut failures: Vec<(Failure, &str)> = vec![
        (Failure::RateLimit, "rate limit"),
        (Failure::RetryAfter(429, 3600), "429"),
        (Failure::RetryAfter(503, 0), "503"),
        (Failure::Cut, "broke off"),
        (Failure::CutAndChanged, "broke off"),
        (
            Failure::RedirectTo("http://plain.example/".into()),
            "redirect",
        ),
    ];
    let codes = [
        (400, "400"),
        (401, "401"),
        (403, "403"),
        (404, ""),
        (500, "500"),
        (502, "502"),
        (504, "504"),
    ];
    failures.extend(codes.map(|(code, shown)| (Failure::Status(code), shown)));
    failures
}

fn published(private: bool) -> GitHub {
    let github = GitHub::start();
    github.accept_token("token");
    let metadata = metadata(&[(1, 0, "v1beta2")]);
    let files = [
        ("components.yaml", COMPONENTS),
        ("metadata.yaml", &metadata),
    ];
    github.add_release("acme/demo", "v1.0.0", &files);
    if private {
        github.make_private("acme/demo");
    }
    github
}

async fn read(github: &GitHub, private: bool) -> Result<String, String> {
    let settings = settings(github, private.then_some("token"));
    let repository = open("infrastructure-demo", URL, &settings);
    let version = repository.default_version().await;
    let version = version.map_err(|error| explain(&error))?;
    match repository.fetch(&version, "components.yaml").await {
        Ok(file) => Ok(file.text),
        Err(error) => Err(explain(&error)),
    }
}

#[tokio::test]
async fn what_fails_for_good_is_told_with_place_cause_and_way_out() {
    let mut flaws = Vec::new();
    for (request, private) in REQUESTS {
        for (failure, shown) in failures() {
            let github = published(private);
            github.fail(request, failure.clone(), usize::MAX);
            // A file may be had in another way, as a public one without the token that is refused.
            let Err(error) = read(&github, private).await else {
                continue;
            };
            let needed = [
                ("no place", error.contains("github")),
                ("no cause", error.contains(shown)),
                ("no way out", error.contains("hint: ")),
                ("a secret", !error.contains("X-Amz")),
            ];
            let missing = needed.iter().filter(|(_, is_there)| !is_there);
            flaws
                .extend(missing.map(|(flaw, _)| format!("{flaw}: {request} {failure:?}: {error}")));
        }
    }
    assert!(flaws.is_empty(), "{}", flaws.join("\n\n"));
}

#[tokio::test]
async fn what_passes_is_overcome() {
    let transient = [
        Failure::Status(500),
        Failure::Status(502),
        Failure::Status(503),
        Failure::Status(504),
        Failure::Status(429),
        Failure::RetryAfter(503, 0),
        Failure::Cut,
        Failure::CutAndChanged,
    ];
    for (request, private) in REQUESTS {
        for failure in &transient {
            let github = published(private);
            github.fail(request, failure.clone(), 2);
            let read = read(&github, private).await;
            assert_eq!(read, Ok(COMPONENTS.to_owned()), "{request} {failure:?}");
        }
    }
}
