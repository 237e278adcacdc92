# One image for every role: `docker compose` names the command. glibc, because the Temporal SDK's native core needs it.
FROM node:20.20.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
# The optional packages are the local stack's PostgreSQL and compilers: no role needs them.
RUN npm run build && npm prune --omit=dev --omit=optional --no-audit --no-fund

FROM node:20.20.0-bookworm-slim
# The native core reads the system's certificates for TLS to Temporal.
RUN apt-get update \
  && apt-get install --no-install-recommends --yes ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# Volumes take over the owner of the folder that they cover.
RUN ln -s /app/dist/cli.js /usr/local/bin/trustflow \
  && install -d -o node -g node -m 0700 /var/lib/trustflow/documents /var/lib/trustflow/sandbox /etc/trustflow/certificates
USER node
ENTRYPOINT ["trustflow"]
CMD ["--help"]
