import { PHASE_PRODUCTION_SERVER } from "next/constants.js";
import { getBuildFolder } from "./bin/build/build-folder.mjs";
import { securityHeaders, unframedHeaders } from "./lib/shared/security-headers.mjs";

/** @param {Record<string, string>} headers */
const toList = (headers) => Object.entries(headers).map(([key, value]) => ({ key, value }));

/** The worker of embedded pages repeats their requests, only to this origin. */
const embedWorkerHeaders = [{ key: "Content-Security-Policy", value: "default-src 'none'; connect-src 'self'" }];

/** Host pages on other origins load this script. */
const elementHeaders = [
  { key: "Access-Control-Allow-Origin", value: "*" },
  { key: "Cross-Origin-Resource-Policy", value: "cross-origin" },
];

/** Workers hash files, rewrite images with WebAssembly, and read live updates from this origin. All share one script. */
const workerHeaders = [
  { key: "Content-Security-Policy", value: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'" },
];

/** Set by bin/prepare.mjs and bin/console.ts from the setting in lib/server/env.ts. */
const basePath = process.env.LIGHTDESK_BASE_PATH ?? "";

/** @type {import('next').NextConfig} */
const config = {
  basePath,
  distDir: getBuildFolder({ basePath }),
  // Read by lib/browser/urls.ts.
  env: { NEXT_PUBLIC_LIGHTDESK_BASE_PATH: basePath },
  poweredByHeader: false,
  // Native packages can't be bundled.
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
  // `npm test` checks types. Starting must not wait for that, or fail because of a test's types.
  typescript: { ignoreBuildErrors: true },
  // Removes the route of Next's image optimizer, which is unused and open to unauthenticated clients.
  images: { unoptimized: true },
  experimental: {
    // Writing this cache took a third of the build's processor time, and the next build was no faster (one trial).
    turbopackFileSystemCacheForBuild: false,
    // Unused, and two thirds of a build's size.
    serverSourceMaps: false,
    // Loads each page on first use. Loading all pages took half of the startup time and 65 MB.
    preloadEntriesOnStart: false,
    // Prefers fewer chunks, because a request costs more than some unused bytes.
    turbopackChunking: { priorityRoutes: [/^\/jobs$/], firstPageLoadPriority: 0.8 },
  },
  // Browsers request this path before they read the page's icon link.
  rewrites: async () => [{ source: "/favicon.ico", destination: "/icon.svg" }],
  headers: async () => [
    { source: "/:path*", headers: toList(securityHeaders) },
    // The next pattern doesn't match the first page below a base path.
    { source: "/", headers: toList(unframedHeaders) },
    { source: "/((?!embed/).*)", headers: toList(unframedHeaders) },
    { source: "/embed.js", headers: elementHeaders },
    { source: "/embed-worker.js", headers: embedWorkerHeaders },
    { source: "/_next/static/chunks/:name(turbopack-worker-.*)", headers: workerHeaders },
  ],
};

/** Compiles messages at build time, so that browsers need no parser. */
const messages = {
  path: "./lib/messages",
  format: "json",
  locales: "infer",
  sourceLocale: "en",
  precompile: true,
};

/** The production server uses the compiled messages. The plugin would load a compiler, which needs a writable folder. */
export default async function createConfig(phase) {
  if (phase === PHASE_PRODUCTION_SERVER) return config;
  const { default: createNextIntlPlugin } = await import("next-intl/plugin");
  return createNextIntlPlugin({ requestConfig: "./lib/server/i18n/messages.ts", experimental: { messages } })(config);
}
