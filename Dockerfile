# The console with the embedded service. For the stand-alone service: docker run … node dist/service.mjs
# /data is a volume with all data. /blobs is for files that several containers share (LIGHTDESK_BLOBS=/blobs). The rest of the file system
# may be read-only.
FROM node:24.21.0-bookworm AS build
WORKDIR /app
# To serve the console below a path: --build-arg LIGHTDESK_BASE_PATH=/desk
ARG LIGHTDESK_BASE_PATH=""
ENV LIGHTDESK_BASE_PATH=$LIGHTDESK_BASE_PATH NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY . .
RUN npm run build
RUN npm run pack -- /out

FROM node:24.21.0-bookworm-slim
WORKDIR /app
ARG LIGHTDESK_BASE_PATH=""
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 LIGHTDESK_BASE_PATH=$LIGHTDESK_BASE_PATH \
    HOST=0.0.0.0 PORT=3000 LIGHTDESK_DATA_DIR=/data
RUN mkdir /data /blobs && chown node:node /data /blobs
COPY --from=build /out ./
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}${process.env.LIGHTDESK_BASE_PATH}/api/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# On SIGTERM, requests finish and running jobs return to the queue. Allow one minute.
STOPSIGNAL SIGTERM
CMD ["node", "dist/console.mjs"]
