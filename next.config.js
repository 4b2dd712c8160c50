import { PHASE_PRODUCTION_SERVER } from "next/constants.js";
import { buildFolder } from "./bin/build/build-folder.mjs";
import { securityHeaders, unframedHeaders } from "./lib/shared/security-headers.mjs";

/** @param {Record<string, string>} headers */
const toList = (headers) => Object.entries(headers).map(([key, value]) => ({ key, value }));

/** The worker of embedded pages repeats their requests, to this origin alone. */
const embedWorkerHeaders = [{ key: "Content-Security-Policy", value: "default-src 'none'; connect-src 'self'" }];

/** Host pages of other origins load it. */
const elementHeaders = [
  { key: "Access-Control-Allow-Origin", value: "*" },
  { key: "Cross-Origin-Resource-Policy", value: "cross-origin" },
];

/** Workers hash files and rewrite pictures: they compute, with WebAssembly too, and make no requests. */
const workerHeaders = [{ key: "Content-Security-Policy", value: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'" }];

/** As lib/server/env.ts reads it; bin/prepare.mjs and bin/console.ts hand it over. */
const basePath = process.env.LIGHTDESK_BASE_PATH ?? "";

/** @type {import('next').NextConfig} */
const config = {
  basePath,
  distDir: buildFolder({ basePath }),
  // lib/browser/urls.ts reads it.
  env: { NEXT_PUBLIC_LIGHTDESK_BASE_PATH: basePath },
  poweredByHeader: false,
  // Native packages: the bundler must leave them where they are.
  serverExternalPackages: [
    "@photostructure/sqlite",
    "graphile-worker",
    "sharp",
    "@node-rs/argon2",
    "@napi-rs/blake-hash",
    "pino",
    "undici",
    "ws",
  ],
  // Types are one of the checks of `npm test`; a start must not wait for them, nor fail over a test's.
  typescript: { ignoreBuildErrors: true },
  // Nothing here uses Next's optimiser, which anybody could let work: unoptimised, its address is none.
  images: { unoptimized: true },
  experimental: {
    // A build is made once for its sources. Writing down for the next one what was computed took a third of its processor time, and in the one
    // trial that was made the next one was no quicker.
    turbopackFileSystemCacheForBuild: false,
    // Nothing reads them: two thirds of a build's bytes.
    serverSourceMaps: false,
    // Each page is loaded on first use: loading all of them took half of a start, and 65 MB that most consoles need later or never.
    preloadEntriesOnStart: false,
    // A request costs more than the bytes that two pages do not share.
    turbopackChunking: { priorityRoutes: [/^\/jobs$/], firstPageLoadPriority: 0.8 },
  },
  // Where a browser looks before it has read the page's own link.
  rewrites: async () => [{ source: "/favicon.ico", destination: "/icon.svg" }],
  headers: async () => [
    { source: "/:path*", headers: toList(securityHeaders) },
    // The first page by itself: below a base path the other pattern does not have it.
    { source: "/", headers: toList(unframedHeaders) },
    { source: "/((?!embed/).*)", headers: toList(unframedHeaders) },
    { source: "/embed.js", headers: elementHeaders },
    { source: "/embed-worker.js", headers: embedWorkerHeaders },
    { source: "/_next/static/chunks/:name(turbopack-worker-.*)", headers: workerHeaders },
  ],
};

/** Sentences are read at build time: a browser gets them ready to be filled in, and no parser. */
const sentences = {
  path: "./lib/messages",
  format: "json",
  locales: "infer",
  sourceLocale: "en",
  precompile: true,
};

/** A start finds the sentences in the build. What reads them brings a compiler, which wants a place to write. */
export default async function settingsOf(phase) {
  if (phase === PHASE_PRODUCTION_SERVER) return config;
  const { default: createNextIntlPlugin } = await import("next-intl/plugin");
  return createNextIntlPlugin({ requestConfig: "./lib/server/i18n/request.ts", experimental: { messages: sentences } })(config);
}
