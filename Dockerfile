# One image for every role: `docker compose` names the command. glibc, because the Temporal SDK's native core needs it.
# The release of Node is that of test/lts, under which the end-to-end tests run. `node scripts/pin-image.mjs` writes the digest
# behind the tag, where Docker Hub can be asked.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/create/package.json packages/create/
COPY packages/sandbox/package.json packages/sandbox/
COPY packages/dev/package.json packages/dev/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY packages packages
COPY src src
RUN npm run build

# The SDK brings its native core for five platforms, the libraries their declarations and source maps: 150 of 287 MB.
FROM build AS packages
RUN npm ci --omit=dev --workspaces=false --no-audit --no-fund \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name '*.map' \) -delete

FROM build AS sandbox-packages
RUN npm ci --omit=dev --workspace=trustflow-sandbox --no-audit --no-fund

# The simulated providers, alone.
FROM ${NODE_IMAGE} AS sandbox
ENV NODE_ENV=production
WORKDIR /app
COPY --from=sandbox-packages /app/node_modules node_modules
COPY --from=sandbox-packages /app/packages/sandbox packages/sandbox
RUN ln -s /app/packages/sandbox/dist/cli.js /usr/local/bin/trustflow-sandbox \
  && install -d -o node -g node -m 0700 /var/lib/trustflow/sandbox
USER node
ENTRYPOINT ["trustflow-sandbox"]

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
