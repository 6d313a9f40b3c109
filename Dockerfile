# The daemon in a container: docs/run/install.md. Nothing runs while it is built: it is the archive
# of `npm run release` and Debian's C library. `--build-arg BASE=IMAGE` takes another base than that.
ARG BASE=libraries
FROM debian:bookworm-20260824-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171 AS debian
FROM scratch AS libraries
COPY --from=debian /usr/lib/*-linux-gnu/lib[cm].so.6 /usr/lib/*-linux-gnu/libdl.so.2 /usr/lib/*-linux-gnu/libpthread.so.0 /usr/lib/*-linux-gnu/librt.so.1 /usr/lib/*-linux-gnu/libgcc_s.so.1 /usr/lib/*-linux-gnu/libstdc++.so.6* /usr/lib/*-linux-gnu/ld-linux* /lib/
COPY --from=debian /usr/lib/*-linux-gnu/ld-linux* /lib64/
FROM scratch AS amd64
ADD dist/release/plimsoll-*-linux-x64.tar.gz /
FROM scratch AS arm64
ADD dist/release/plimsoll-*-linux-arm64.tar.gz /
FROM ${TARGETARCH} AS program
WORKDIR /owned/data
FROM ${BASE}
LABEL org.opencontainers.image.title="Plimsoll" org.opencontainers.image.description="A Cargo registry you can host anywhere" org.opencontainers.image.licenses="MIT OR Apache-2.0" org.opencontainers.image.version="0.2.0"
COPY --from=program /plimsoll-* /opt/plimsoll/
COPY deploy/image /
COPY --from=program --chown=10001:10001 /owned /
ENV HOME=/data NODE_ENV=production PLIMSOLL_DIR=/data PLIMSOLL_LISTEN=0.0.0.0:8080
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["/opt/plimsoll/node", "/opt/plimsoll/dist/program/cli.js", "health"]
ENTRYPOINT ["/opt/plimsoll/node", "/opt/plimsoll/dist/program/cli.js"]
CMD ["serve", "--init"]
