# The image of the Mailgun provider's manager: one static binary, which is the manager when it is called by that name.
# `tests/mailgun_release.rs` holds paths and user against the Deployment in `templates/mailgun`.
ARG RUST=1.89
FROM rust:${RUST}-alpine AS build
RUN apk add --no-cache ca-certificates musl-dev
WORKDIR /capictl
COPY Cargo.toml Cargo.lock providers.yaml ./
COPY src src
COPY templates templates
COPY completions completions
RUN cargo build --release --locked --bin capictl \
 && mkdir /out \
 && cp target/release/capictl /out/capictl \
 && ln -s capictl /out/manager

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ /
USER 65532:65532
ENTRYPOINT ["/manager"]
