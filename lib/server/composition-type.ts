// The type of the composition, in its own module so that importing it doesn't import the implementation.

import "server-only";
import { type Dialect } from "@/lib/contract/connections";
import { type Failure } from "@/lib/contract/failure";
import { type ServiceRunners } from "@/lib/contract/runners/runners";
import { type NodeInfo } from "@/lib/contract/schemas/object-info";
import { type DiskCache } from "@/lib/shared/disk-cache";
import { type Feed, type FeedTarget } from "@/lib/shared/http-types";
import { type Lru } from "@/lib/shared/lru";
import { type Readiness } from "@/lib/shared/readiness";
import { type Result } from "@/lib/shared/result";
import { type CapabilityCache } from "./capabilities/capability-cache";
import { type AssetPreviewCache } from "./connections/asset-preview-cache";
import { type HostKeys } from "./embed/host-keys";
import { type Env } from "./env";
import { type RunKeys } from "./job-index/expected-runs";
import { type JobIndex } from "./job-index/job-index";
import { type KeyRing } from "./keys/key-ring";
import { type AttemptLimit, type SignInLimits } from "./limits/attempt-limit";
import { type LiveHub } from "./live/hub";
import { type Log } from "./log";
import { type LiveOutputs } from "./responses/live-outputs";
import { type DataChange } from "./store/peers";
import { type Store } from "./store/store";
import { type Delivery } from "./store/webhooks";
import { type Breaker } from "./thumbnails/breaker";
import { type ResponseCache } from "./upstream/response-cache";
import { type Upstream, type UpstreamOptions } from "./upstream/upstream";
import { type ClassNames, type SeenNames } from "./workflows/seen-names";

/** The service's response as JSON text, or why there is none. */
export type SubmissionOutcome = Result<string, Failure>;
/** This process's submissions whose outcome is not stored yet, by member and key. */
type SubmissionsInFlight = Map<string, { contentHash: string; outcome: Promise<SubmissionOutcome> }>;

export type Target = { connectionId: string; baseUrl: string; dialect: Dialect; apiKey: string | undefined };

export type Webhooks = {
  start(composition: Composition): void;
  /** Call after a webhook of the connection was created or changed. */
  refresh(connectionId: string): void;
  /** Attempts a claimed delivery now. Undefined if it was removed. With `resend`, a failure doesn't change the schedule. */
  attempt(delivery: Delivery, resend?: { scheduledAt: number | undefined }): Promise<Delivery | undefined>;
  stop(): Promise<void>;
};

export type Composition = {
  env: Env;
  log: Log;
  store: Store;
  jobIndex: JobIndex;
  keyRing: KeyRing;
  authSecret: string;
  now(): number;
  capabilities: CapabilityCache;
  thumbnails: DiskCache<Failure>;
  pictureBreaker: Breaker;
  assetPreviews: AssetPreviewCache;
  seenNames: SeenNames;
  classNames: ClassNames;
  runKeys: RunKeys;
  signInLimits: SignInLimits;
  memberLimit: AttemptLimit;
  /** Requests with an invalid token, by address. */
  wrongTokenLimit: AttemptLimit;
  /** Attempts with a set-up link or an invitation, by address. */
  tokenLimit: AttemptLimit;
  /** Sign-ins through OIDC providers, by address. */
  oidcLimit: AttemptLimit;
  /** Visitors' requests to shares, by address. */
  shareLimit: AttemptLimit;
  /** Attempts to start embedded sessions with a ticket, by address. */
  ticketLimit: AttemptLimit;
  hostKeys: HostKeys;
  submissionsInFlight: SubmissionsInFlight;
  /** Cached descriptions of node classes for app runs, by connection, address and class. */
  nodeInfos: Lru<string, { info: NodeInfo | undefined; atMs: number }>;
  /** Queue positions reported by services, by connection and address. */
  queuePositions: Lru<string, ReadonlyMap<string, number | undefined>>;
  /** Folder for uploaded forms until they are forwarded. Emptied at startup. */
  formsFolder: string;
  ready: Promise<void>;
  readiness: Readiness;
  /** Keys of the embedded service. Available after `ready`. */
  serviceKeys(): { createKey(userName: string): Promise<{ key: string }> };
  /** Runners of the embedded service. Available after `ready`. */
  serviceRunners(): ServiceRunners;
  getUpstream(target: Target, hooks?: Pick<UpstreamOptions, "onResponse" | "findRefusal">): Upstream;
  getUpstreamOptions(target: Target): UpstreamOptions;
  /** Subscribes to the service's messages about jobs. Undefined if the embedded service rejects the key. */
  openFeed(target: Target, clientId: string | undefined, listener: FeedTarget): Promise<Feed | undefined>;
  /** This process submits to local servers and subscribes to services with this client id. */
  clientId: string;
  liveOutputs: LiveOutputs;
  jobResponses: ResponseCache;
  liveHub: LiveHub;
  /** Invalidates shared responses and refreshes live updates, in all processes that share the database. */
  publishChange(change: DataChange): void;
  webhooks: Webhooks;
  /** One-time URL for creating the owner. Undefined if there is an owner. Available after `ready`. */
  getSetUpUrl(): string | undefined;
  stop(): Promise<void>;
};

export type Dependencies<K extends keyof Composition> = Pick<Composition, K>;
