//! Each way to fail at each kind of request: the right result after all, or one message that says where, what and what next.

use futures::future::join_all;

use super::servers::{COMPONENTS_FILE, Server};
use super::support::github::{Failure, GitHub};
use super::*;

const COMPONENTS: &str = "kind: Namespace\n";
const TOKEN: &str = "t0ken";

/// A kind of request.
#[derive(Debug, Clone, Copy)]
struct Request {
    server: Server,
    /// It goes to a private repository, with a token.
    private: bool,
    /// It is made for a list of versions, else for a file.
    lists: bool,
    /// What its URL contains.
    part: &'static str,
    /// What its failure names of a URL.
    place: &'static str,
    /// What the user would set to be somebody, where that matters.
    variable: Option<&'static str>,
}

const GITHUB_LIST: Request = Request {
    server: Server::GitHub,
    private: false,
    lists: true,
    part: "/releases?per_page=",
    place: "`https://api.github.com/repos/acme/demo/releases",
    variable: Some("GITHUB_TOKEN"),
};
const GITHUB_FILE: Request = Request {
    lists: false,
    part: "/releases/download/",
    place: "`https://github.com/acme/demo/releases/download/v1.0.0/components.yaml`",
    variable: None,
    ..GITHUB_LIST
};
const GITHUB_PRIVATE_FILE: Request = Request {
    private: true,
    lists: false,
    part: "/releases/assets/",
    ..GITHUB_LIST
};
const GO_PROXY_LIST: Request = Request {
    server: Server::GoProxy,
    part: "go.example/",
    place: "nowhere, for GitHub knows the versions too",
    ..GITHUB_LIST
};
const GITLAB_LIST: Request = Request {
    server: Server::GitLab,
    part: "/packages?",
    place: "`https://gitlab.acme.example/api/v4/projects/acme%2Fdemo/packages`",
    variable: Some("GITLAB_ACCESS_TOKEN"),
    ..GITHUB_LIST
};
const GITLAB_FILE: Request = Request {
    lists: false,
    part: "/packages/generic/",
    place: "`https://gitlab.acme.example/api/v4/projects/acme%2Fdemo/packages/generic/demo/v1.0.0/components.yaml`",
    ..GITLAB_LIST
};
const FOLDER_LIST: Request = Request {
    server: Server::Folder,
    part: "/versions",
    place: "`https://web.example/infrastructure-demo/versions`",
    variable: None,
    ..GITHUB_LIST
};
const FOLDER_FILE: Request = Request {
    lists: false,
    part: "/v1.0.0/components.yaml",
    place: "`https://web.example/infrastructure-demo/v1.0.0/components.yaml`",
    ..FOLDER_LIST
};

const REQUESTS: [Request; 14] = [
    GITHUB_LIST,
    Request {
        private: true,
        ..GITHUB_LIST
    },
    GITHUB_FILE,
    Request {
        part: "objects.githubusercontent.com",
        ..GITHUB_FILE
    },
    GITHUB_PRIVATE_FILE,
    Request {
        part: "/releases/tags/",
        ..GITHUB_PRIVATE_FILE
    },
    GO_PROXY_LIST,
    Request {
        part: "/v2/@v/list",
        ..GO_PROXY_LIST
    },
    GITLAB_LIST,
    Request {
        private: true,
        ..GITLAB_LIST
    },
    GITLAB_FILE,
    Request {
        private: true,
        ..GITLAB_FILE
    },
    FOLDER_LIST,
    FOLDER_FILE,
];

impl Request {
    fn publish(self) -> GitHub {
        let stand_in = GitHub::start();
        stand_in.accept_token(TOKEN);
        self.server.publish(&stand_in, "v1.0.0", COMPONENTS);
        self.server.list(&stand_in, &["v1.0.0"]);
        // What a login looks like.
        stand_in.add_file("acme/demo", "main", "other", "");
        if self.private {
            stand_in.make_private("acme/demo");
            stand_in.make_project_private("acme/demo");
        }
        stand_in
    }

    async fn read(self, stand_in: &GitHub, patience: Patience) -> Result<String, String> {
        let http = Http::with_options(Options {
            proxy: Some(stand_in.proxy_url().into()),
            extra_certificates: Some(stand_in.ca_pem().into()),
            first_delay: Duration::from_millis(1),
            silence: patience.silence,
            retries: patience.retries,
            ..Options::new("capictl-test")
        });
        let token = || self.private.then(|| Secret::new(TOKEN));
        let settings = Settings::new(uncached(http), token(), None).with_gitlab_token(token());
        let repository = self.server.open("latest", settings);
        let version = match self.lists {
            true => repository.default_version().await,
            false => Ok("v1.0.0".to_owned()),
        };
        let version = version.map_err(|error| explain(&error))?;
        let file = repository.fetch(&version, COMPONENTS_FILE).await;
        Ok(file.map_err(|error| explain(&error))?.text)
    }

    /// The server itself does not fail, or somebody else knows as much.
    fn does_without(self, failure: &Failure) -> bool {
        // These redirect to the files.
        let has_no_body = ["/releases/download/", "/releases/assets/"].contains(&self.part);
        match failure {
            Failure::Cut | Failure::CutAndChanged | Failure::Hold if has_no_body => true,
            _ => self.server == Server::GoProxy,
        }
    }
}

/// How long a client waits for a server that says nothing, and how often it tries again.
struct Patience {
    silence: Duration,
    retries: usize,
}

impl Patience {
    /// Enough for answers on a machine that is busy with other things; where the silence is the point, as little as that needs.
    fn with(failure: &Failure, retries: usize) -> Self {
        let silence = match failure {
            Failure::Silence | Failure::Hold => Duration::from_secs(4),
            _ => Duration::from_secs(60),
        };
        Self { silence, retries }
    }
}

/// What can happen to a request, and what the message says of it.
fn failures() -> Vec<(Failure, &'static [&'static str])> {
    vec![
        (Failure::RateLimit, &["403", "until 2096-10-02 07:06 UTC"]),
        (Failure::RetryAfter(429, 3600), &["429", "UTC, in 60 min"]),
        (Failure::RetryAfter(403, 3600), &["403", "UTC, in 60 min"]),
        (Failure::RetryAfter(503, 3600), &["503", "UTC, in 60 min"]),
        (Failure::RetryAfter(503, 0), &["503", "later"]),
        (Failure::Cut, &["broke off", "try again"]),
        (Failure::CutAndChanged, &["broke off", "try again"]),
        (Failure::Silence, &["in time", "the network", "HTTPS_PROXY"]),
        (Failure::Hold, &["in time", "the network", "HTTPS_PROXY"]),
        (
            Failure::RedirectTo("http://plain.example/?s3cret".into()),
            &["redirects", "`http://plain.example/` is not encrypted"],
        ),
        (
            Failure::RedirectTo("https://files.example/acme/demo/blob/login?s3cret".into()),
            &["web page"],
        ),
        (Failure::Status(400), &["400", "check the address"]),
        (Failure::Status(401), &["401"]),
        (Failure::Status(403), &["403"]),
        (Failure::Status(404), &[]),
        (Failure::Status(418), &["418", "check the address"]),
        (Failure::Status(500), &["500", "later"]),
        (Failure::Status(502), &["502", "later"]),
        (Failure::Status(504), &["504", "later"]),
    ]
}

/// Returns what is wrong with a message, of a failure that should have these words in it.
fn flaws(request: Request, failure: &Failure, words: &[&str], error: &str) -> Vec<String> {
    let mut needed = words.to_vec();
    // A release that is not there has its own words and addresses.
    let is_no_release =
        request.part == "/releases/tags/" && matches!(failure, Failure::Status(404));
    needed.push(match is_no_release {
        true => "`https://github.com/acme/demo/releases`",
        false => request.place,
    });
    needed.push("hint: ");
    if let (
        Some(variable),
        Failure::RateLimit | Failure::RetryAfter(403 | 429, _) | Failure::Status(401),
    ) = (request.variable, failure)
    {
        needed.push(variable);
    }
    needed.retain(|word| !error.contains(word));
    let mut flaws: Vec<String> = needed.iter().map(|word| format!("no {word:?}")).collect();
    let whose = [
        "private",
        "credentials",
        "published",
        "name a version",
        "lists the releases",
    ];
    if matches!(failure, Failure::Status(401 | 403 | 404))
        && request
            .variable
            .is_none_or(|variable| !error.contains(variable))
        && !whose.iter().any(|word| error.contains(word))
    {
        flaws.push("nothing about who may read it".into());
    }
    flaws.extend(
        ["X-Amz", "s3cret", TOKEN]
            .iter()
            .filter(|secret| error.contains(*secret))
            .map(|secret| format!("a secret: {secret}")),
    );
    let messages = error.lines().filter(|line| line.starts_with("failed to"));
    if messages.count() != 1 {
        flaws.push("not one message".into());
    }
    flaws
}

#[tokio::test]
async fn what_fails_for_good_is_told_with_place_cause_and_way_out() {
    let found = join_all(REQUESTS.map(|request| Box::pin(fail_for_good(request)))).await;
    let found = found.concat();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

async fn fail_for_good(request: Request) -> Vec<String> {
    let stand_in = request.publish();
    let mut found = Vec::new();
    for (failure, words) in failures() {
        stand_in.recover();
        stand_in.fail(request.part, failure.clone(), usize::MAX);
        let retries = match failure {
            Failure::Silence | Failure::Hold => 1,
            _ => 3,
        };
        let patience = Patience::with(&failure, retries);
        let flaws = match request.read(&stand_in, patience).await {
            Ok(text) if text == COMPONENTS && request.does_without(&failure) => continue,
            Ok(text) => vec![format!("no failure, but {text:?}")],
            Err(error) => match flaws(request, &failure, words, &error) {
                flaws if flaws.is_empty() => continue,
                flaws => [flaws, vec![error]].concat(),
            },
        };
        found.push(format!("{request:?} {failure:?}\n{}", flaws.join("\n")));
    }
    found
}

#[tokio::test]
async fn what_passes_is_overcome() {
    join_all(REQUESTS.map(|request| Box::pin(overcome(request)))).await;
}

async fn overcome(request: Request) {
    let stand_in = request.publish();
    for (failure, times) in [
        (Failure::Status(500), 2),
        (Failure::Status(502), 2),
        (Failure::Status(503), 2),
        (Failure::Status(504), 2),
        (Failure::Status(429), 2),
        (Failure::RetryAfter(503, 0), 2),
        (Failure::Cut, 2),
        (Failure::CutAndChanged, 2),
        (Failure::Silence, 1),
        (Failure::Hold, 1),
    ] {
        stand_in.recover();
        stand_in.fail(request.part, failure.clone(), times);
        let read = request.read(&stand_in, Patience::with(&failure, 3)).await;
        assert_eq!(read, Ok(COMPONENTS.to_owned()), "{request:?} {failure:?}");
        let urls = stand_in.take_urls();
        let asked = urls.iter().filter(|url| url.contains(request.part));
        let least = if request.does_without(&failure) {
            1
        } else {
            times + 1
        };
        assert!(asked.count() >= least, "{request:?} {failure:?}: {urls:?}");
    }
}
