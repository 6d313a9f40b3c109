# The daemon in a container: docs/run/install.md. The last stage runs nothing while it is built, and has
# neither npm nor the sources. Both images are fixed by digest; their tags say what they are.
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build
RUN node scripts/image.mjs /image/app
RUN mkdir -p /image/usr/local/bin /owned/data
RUN cp /usr/local/bin/node /image/usr/local/bin/node
RUN ln -s /app/dist/program/cli.js /image/usr/local/bin/plimsoll

FROM debian:bookworm-20260824-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171
LABEL org.opencontainers.image.title="Plimsoll" \
  org.opencontainers.image.description="A Cargo registry you can host anywhere" \
  org.opencontainers.image.licenses="MIT OR Apache-2.0" \
  org.opencontainers.image.version="0.2.0"
COPY --from=build /image /
COPY --from=build --chown=10001:10001 /owned /
ENV HOME=/data \
  NODE_ENV=production \
  PLIMSOLL_DIR=/data \
  PLIMSOLL_LISTEN=0.0.0.0:8080
USER 10001:10001
WORKDIR /data
VOLUME ["/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["plimsoll"]
CMD ["serve", "--init"]
