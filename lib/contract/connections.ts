export function toBaseUrl(typed: string): string {
  return withoutSlash(withoutSlash(typed).replace(/\/api$/, ""));
}

export function endsWithApi(typed: string): boolean {
  return toBaseUrl(typed) !== withoutSlash(typed);
}

/** Adds the scheme that people leave out, as in "localhost:8188". An address with a scheme, or an empty one, stays as it is. */
export function withScheme(typed: string): string {
  if (typed === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) return typed;
  return `${/^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])(?![\w.-])/i.test(typed) ? "http" : "https"}://${typed}`;
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** `local`: a plain local server, which has one user and no key. */
export const dialects = ["interface", "local"] as const;
export type Dialect = (typeof dialects)[number];

/** What some connections lack. Screens and handlers check for these, never for the kind of server. */
export type ConnectionFeature =
  /** Without it, the viewer may only see the connection's jobs. */
  | "fullAccess"
  | "assets"
  /** Users and keys. */
  | "accounts"
  /** A status of a job that has more than its details. */
  | "jobStatus"
  /** Lists jobs by the kind of their outputs. */
  | "outputFilter"
  | "metadataFilter"
  /** Finds files by content hash. */
  | "contentLookup"
  /** Accepts an upload with an id made by the client. */
  | "clientIds"
  | "urlDownloads"
  /** Deletes an asset's file with the asset. */
  | "fileRemoval"
  /** Applies a mask to the picture as it is displayed, not to its pixels as stored. */
  | "uprightMasks"
  /** Interrupts one of several running jobs. */
  | "interruptById"
  /** Its queue contains the jobs' graphs. */
  | "queueGraphs";

export const lacksOfDialect: Readonly<Record<Dialect, readonly ConnectionFeature[]>> = {
  interface: ["interruptById", "queueGraphs"],
  local: [
    ...(["accounts", "jobStatus", "outputFilter", "metadataFilter", "contentLookup"] as const),
    ...(["clientIds", "urlDownloads", "fileRemoval", "uprightMasks"] as const),
  ],
};

type ConnectionFeatures = { lacks?: readonly ConnectionFeature[] };

export function hasFeature(connection: ConnectionFeatures | undefined, feature: ConnectionFeature): boolean {
  return connection?.lacks?.includes(feature) !== true;
}

/** `strange`: answers, but not with this interface; `failing`: fails by itself; `unpaid`: the account must pay. */
export const checkOutcomes = ["active", "waitlisted", "refused", "forbidden", "unpaid", "failing", "strange", "unreachable"] as const;
export type CheckOutcome = (typeof checkOutcomes)[number];

/** `wrong_protocol`: http and https were mixed up; `failing`: it answers with failures of its own. */
export const runnerProblems = [
  "not_reachable",
  "timeout",
  "redirects",
  "wrong_protocol",
  "cloud_service",
  "not_a_server",
  "too_old",
  "failing",
  "over_limits",
] as const;
export type RunnerProblem = (typeof runnerProblems)[number];

export const runnerOrders = ["ready", "draining", "paused"] as const;
