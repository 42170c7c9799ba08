# Concierge as an image: built on the official Swift image; it contains the program, the libraries that it loads, and no
# shell.
#
#   docker build -t concierge .        (or: make image)
#   docker run --rm -p 8080:8080 -v concierge:/var/lib/concierge concierge
#
# With Graphviz, which draws flows: docker build --build-arg GRAPHVIZ=graphviz -t concierge .

# ---- build -----------------------------------------------------------------------------------------------------
FROM swift:6.3-bookworm AS build
WORKDIR /src

# The libraries change rarely: a layer of their own, kept while scripts/setup stays as it is.
COPY scripts/setup scripts/setup
RUN scripts/setup build && rm -rf /var/lib/apt/lists/*

# There are no packages from outside to resolve first, so the sources are one layer (the tests are not built, but
# the package describes them). The Swift runtime is linked in: the image below has none.
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
COPY Examples Examples
# Compiled into the program.
COPY clients clients
COPY console console
COPY demo demo
RUN swift build --configuration release --product concierge --static-swift-stdlib \
    && mkdir -p /out/usr/bin /out/usr/share \
    && strip --strip-all -o /out/usr/bin/concierge .build/release/concierge \
    && { swift --version 2>/dev/null | sed -n 's/^.*Swift version \([0-9.]*\).*/swift \1/p'; \
        dpkg-query --show --showformat '${Package} ${Version}\n' rapidjson-dev; } >/out/usr/share/concierge-built-with

# ---- what it needs ---------------------------------------------------------------------------------------------
FROM debian:bookworm-slim AS root
# Without Graphviz everything works but the drawings.
ARG GRAPHVIZ=
# tzdata has the zones of `$day`.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates libcurl4 libdeflate0 libgnutls30 libhiredis0.14 libmicrohttpd12 libmimalloc2.0 libpcre2-8-0 libssl3 libsqlite3-0 libstdc++6 tzdata \
        ${GRAPHVIZ}
COPY --from=build /out/ /
COPY scripts/image-root /usr/local/bin/image-root
RUN image-root /image
# The configuration that comes with Concierge. Mount a folder of your own over /etc/concierge to replace it.
COPY config /image/etc/concierge

# ---- run -------------------------------------------------------------------------------------------------------
FROM scratch
ARG REVISION=
LABEL org.opencontainers.image.title="Concierge" \
    org.opencontainers.image.description="A server for what people do screen by screen" \
    org.opencontainers.image.version="0.3.0" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim"
COPY --from=root /image/ /

# A number and not a name, so that an orchestrator can see that it is not root. It owns the folder below and nothing else.
USER 65532:65532

# Where sessions are: `store` in the configuration is relative to the working directory, so by default they are in
# /var/lib/concierge/data/concierge.db. A new volume gets the owner and the rights of the folder.
WORKDIR /var/lib/concierge
VOLUME /var/lib/concierge

# The public listener. The admin listener stays on the loopback of the container, where only the health check and programs
# in the same network namespace reach it.
EXPOSE 8080

# The program is process 1, without a shell: it gets SIGTERM itself, completes the requests in flight and ends with 0.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["/usr/bin/concierge", "health"]
ENTRYPOINT ["/usr/bin/concierge"]
CMD ["serve", "--config", "/etc/concierge/concierge.json"]
