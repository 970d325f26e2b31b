# One image for API, worker, sandbox bank and command line; the command selects the process.
# Debian, not Alpine: Temporal's native core needs glibc.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev
COPY tsconfig.json tsconfig.build.json ./
COPY docs/guide docs/guide
COPY src src
COPY client/src client/src
COPY workflows workflows
COPY activities activities
COPY worker worker
COPY sandbox-bank sandbox-bank
COPY scripts/prune-image.mjs scripts/prune-image.mjs
RUN npm run build && npm prune --omit=dev && node scripts/prune-image.mjs

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# A volume that is mounted at one of these inherits this owner.
RUN mkdir -p /var/lib/bursar/archive /var/lib/bursar/bank && chown -R node:node /var/lib/bursar
USER node
EXPOSE 8080
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
