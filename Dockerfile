# Tollgate as an image, for linux/amd64 and linux/arm64. docs/container.md says how it is built and run.
#   docker build -t tollgate .                                       with the embedded PostgreSQL
#   docker build -t tollgate:external --target gateway-external .    without it: for a DATABASE_URL
# Everything is built on the machine's own architecture: nothing of the image runs until somebody starts it.

# Debian with Node and npm: only the tools come from it. The Node of the image is the one of the lock file.
ARG BUILD_IMAGE=docker.io/library/node:26-trixie-slim

# The package as `npm pack` makes it, which builds it.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS package
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json README.md CHANGELOG.md LICENSE ./
COPY bin bin
COPY scripts scripts
COPY migrations migrations
COPY fixtures fixtures
COPY dashboard dashboard
COPY src src
RUN npm pack --pack-destination /tmp && tar -xzf /tmp/tollgate-*.tgz -C /

# What it needs to run, for the target's architecture.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS assembled
ARG TARGETARCH
# The latest that this Debian has: it only strips, and is in no image.
# hadolint ignore=DL3008
RUN apt-get update -qq && \
    case "$TARGETARCH" in amd64) target=x86-64 ;; arm64) target=aarch64 ;; *) exit 1 ;; esac && \
    apt-get install -qq --yes --no-install-recommends "binutils-$target-linux-gnu" && rm -rf /var/lib/apt/lists/*
WORKDIR /modules
COPY package.json package-lock.json .npmrc ./
RUN case "$TARGETARCH" in amd64) cpu=x64 ;; *) cpu=$TARGETARCH ;; esac && \
    npm ci --omit=dev --ignore-scripts --os=linux --libc=glibc --cpu="$cpu"
COPY scripts/image /scripts
RUN sh /scripts/debian-root.sh "$TARGETARCH" /root-of-image
COPY --from=package /package /package
RUN sh /scripts/lay-out.sh "$TARGETARCH"

FROM scratch AS gateway-external
ARG VERSION=0.2.0
ARG REVISION=unknown
ARG SOURCE=unknown
COPY --from=assembled /out/external/ /
COPY --from=assembled --chown=10001:0 /out/volume/ /
ENV PATH=/usr/local/bin:/usr/bin \
    TOLLGATE_HOST=0.0.0.0 \
    TOLLGATE_DATA_DIR=/data
LABEL org.opencontainers.image.title="Tollgate" \
      org.opencontainers.image.description="A transparent gateway for language-model providers: every call logged with its exact cost, every run as a tree." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 4141 4142
STOPSIGNAL SIGTERM
# The admin port serves it in every role, always in plain HTTP. busybox asks, which costs a millisecond.
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=3 \
    CMD ["sh", "-c", "exec wget -q -Y off -T 3 -O /dev/null http://127.0.0.1:${TOLLGATE_ADMIN_PORT:-4142}/healthz"]
ENTRYPOINT ["tollgate"]
CMD ["start"]

FROM gateway-external AS gateway
COPY --from=assembled /out/embedded/ /
