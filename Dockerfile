# One image for every role: `docker compose` names the command. glibc, because the Temporal SDK's native core needs it.
# The release of Node is that of test/lts, under which the end-to-end tests run. `node scripts/pin-image.mjs` writes the digest
# behind the tag, where Docker Hub can be asked.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build

# The optional packages are the local stack's PostgreSQL, test server and certificate maker, and compilers: no role needs them.
FROM build AS packages
RUN npm prune --omit=dev --omit=optional --no-audit --no-fund

FROM ${NODE_IMAGE} AS production
# The native core reads the system's certificates for TLS to Temporal.
RUN apt-get update \
  && apt-get install --no-install-recommends --yes ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/package.json ./
COPY --from=packages /app/node_modules node_modules
COPY --from=packages /app/dist dist
# Volumes take over the owner of the folder that they cover.
RUN ln -s /app/dist/cli.js /usr/local/bin/trustflow \
  && install -d -o node -g node -m 0700 /var/lib/trustflow/documents /var/lib/trustflow/sandbox /etc/trustflow/certificates /work
USER node
ENTRYPOINT ["trustflow"]
CMD ["--help"]

# The simulated providers make certificates.
FROM production AS sandbox
COPY --from=build /app/node_modules/node-forge node_modules/node-forge

FROM production
