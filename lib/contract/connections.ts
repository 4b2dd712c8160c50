export function toBaseUrl(address: string): string {
  return removeTrailingSlash(removeTrailingSlash(address).replace(/\/api$/, ""));
}

export function endsWithApi(address: string): boolean {
  return toBaseUrl(address) !== removeTrailingSlash(address);
}

/** Adds a missing scheme, as in "localhost:8188". Empty addresses and addresses with a scheme are returned unchanged. */
export function addScheme(address: string): string {
  if (address === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return address;
  return `${/^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\])(?![\w.-])/i.test(address) ? "http" : "https"}://${address}`;
}

function removeTrailingSlash(address: string): string {
  return address.replace(/\/+$/, "");
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** `local`: a plain local server, which has a single user and no keys. */
export const dialects = ["interface", "local"] as const;
export type Dialect = (typeof dialects)[number];

/** Features that some connections lack. Screens and handlers check for these instead of the kind of server. */
export type ConnectionFeature =
  /** If this is absent, the viewer may see only the connection's jobs. */
  | "fullAccess"
  | "assets"
  /** Users and keys. */
  | "accounts"
  /** A job status with more data than the job's details. */
  | "jobStatus"
  /** Lists jobs by the kind of their outputs. */
  | "outputFilter"
  | "metadataFilter"
  /** Finds files by content hash. */
  | "contentLookup"
  /** Accepts an upload with an id that the client created. */
  | "clientIds"
  | "urlDownloads"
  /** Deletes an asset's file with the asset. */
  | "fileRemoval"
  /** Applies a mask to the image as displayed, not as stored. */
  | "uprightMasks"
  /** Can interrupt one of several running jobs. */
  | "interruptById"
  /** Its queue contains the jobs' graphs. */
  | "queueGraphs";

export const missingFeatures: Readonly<Record<Dialect, readonly ConnectionFeature[]>> = {
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

/** `strange`: it responds, but not with this interface. `failing`: it returns server errors. `unpaid`: the account must pay. */
export const checkOutcomes = ["active", "waitlisted", "refused", "forbidden", "unpaid", "failing", "strange", "unreachable"] as const;
export type CheckOutcome = (typeof checkOutcomes)[number];

/** `wrong_protocol`: http and https were mixed up. `failing`: it returns server errors. */
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

export const settableRunnerStates = ["ready", "draining", "paused"] as const;
