// Creates the dependencies of a process once. They are stored on globalThis, because the bundler loads modules several times.

import "server-only";
import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type DestinationStream } from "pino";
import { returnsBytes } from "@/lib/contract/operation";
import { type Service } from "@/lib/service/index";
import { ensureReserve, releaseReserve } from "@/lib/shared/database/disk-reserve";
import { createDiskCache } from "@/lib/shared/disk-cache";
import { createLru } from "@/lib/shared/lru";
import { checkDisk, createNotReady, createReadiness } from "@/lib/shared/readiness";
import { formatCount } from "@/lib/shared/text";
import { createCapabilityCache } from "./capabilities/capability-cache";
import { type Composition } from "./composition-type";
import { createAssetPreviewCache } from "./connections/asset-preview-cache";
import { createHostKeys } from "./embed/host-keys";
import { type Env, EnvError, getConsoleUrl, isBuild, readEnv } from "./env";
import { createRunKeyCache } from "./job-index/expected-runs";
import { createJobIndex } from "./job-index/job-index";
import { countSecrets, listSealedSecret, loadSharedSecret, openKeyRing, openSecretFile, saveKeyRing } from "./keys/key-ring";
import { type AttemptLimit, createAttemptLimit, createSharedLimit, createSignInLimits } from "./limits/attempt-limit";
import { createLiveHub } from "./live/hub";
import { createLog } from "./log";
import { getProcessState } from "./process-state";
import { createLiveOutputs } from "./responses/live-outputs";
import { type PeerListener } from "./store/peers";
import { openStore, requireConsoleRows } from "./store/store";
import { createBreaker } from "./thumbnails/breaker";
import { createCatalogueReader } from "./upstream/catalogue-reader";
import { createResponseTracker } from "./upstream/deadline";
import { removeKeyFromHeaders } from "./upstream/key-redactor";
import { createLocalDialect } from "./upstream/local-dialect/local-dialect";
import { createResponseCache } from "./upstream/response-cache";
import { createResponseReader } from "./upstream/response-reader";
import { createGuardedSend, createHttpSend, type GuardedSend, isEmbedded } from "./upstream/send";
import { subscribeToService } from "./upstream/service-events";
import { createUpstream, type UpstreamLimits } from "./upstream/upstream";
import { createWebhooks } from "./webhooks/watch";
import { createClassNames, createSeenNames } from "./workflows/seen-names";

const SET_UP_LINK_LIFETIME_MS = 60 * 60_000;
const MAX_NODE_INFOS = 500;
const MAX_THUMBNAIL_BYTES = 512 * 1024 ** 2;
const MAX_CATALOGUE_BYTES = 256 * 1024 ** 2;
const MAX_QUEUE_POSITIONS = 100;

export type CompositionOptions = {
  env: Env;
  now?: () => number;
  logDestination?: DestinationStream;
  upstreamLimits?: Partial<UpstreamLimits>;
};

export function getComposition(): Composition {
  // A build renders pages too. With the settings of a running console, it would open that console's data.
  if (isBuild()) throw new Error("A build cannot start a console: await headers() first.");
  return getProcessState().composition ?? startComposition({ env: readEnv() });
}

export function startComposition(options: CompositionOptions): Composition {
  const composition = createComposition(options);
  getProcessState().composition = composition;
  // After a failed startup there are no webhooks. Callers that await `ready` get the error.
  void composition.ready.then(() => composition.webhooks.start(composition)).catch(() => undefined);
  return composition;
}

function createComposition({ env, now = Date.now, logDestination, upstreamLimits }: CompositionOptions): Composition {
  prepareDataDir(env.dataDir);
  const log = createLog(env.logLevel, logDestination);
  releaseReserve(env.dataDir);
  const store = openStore(env.dataDir, env.databaseUrl);
  const jobIndex = createJobIndex({ store, log, now, maxJobs: env.maxIndexedJobs });
  const capabilities = createCapabilityCache(now);
  const pictureBreaker = createBreaker(now);
  const responseTracker = createResponseTracker();
  const jobResponses = createResponseCache(upstreamLimits?.sharedMs);
  const liveOutputs = createLiveOutputs(now);
  const liveHub = createLiveHub({ now, log });
  const openedKeyRing = openKeyRing(env.dataDir, env.encryptionKeys);
  const { keyRing } = openedKeyRing;
  const responseWorkerPath = join(env.root, "dist", "response-worker.mjs");
  const responseReader = createResponseReader(responseWorkerPath, log);
  const catalogues = createDiskCache<string>({ folder: join(env.dataDir, "catalogues"), maxBytes: MAX_CATALOGUE_BYTES, extension: "json" });
  const thumbnailCacheOptions = {
    folder: join(env.dataDir, "thumbnails"),
    maxBytes: MAX_THUMBNAIL_BYTES,
    extension: "webp",
    hasMetrics: true,
  };
  const formsFolder = join(env.dataDir, "forms");
  const sendHttp = createHttpSend();
  // One per process, because a local server reports a job only to the last socket of the client id that submitted it.
  const clientId = `lightdesk-${randomUUID()}`;
  const sendLocal = createLocalDialect(sendHttp, now, clientId);
  const sendForeign: GuardedSend = createGuardedSend({ trustedHosts: env.trustedHosts });
  let service: Service | undefined;
  let setUpToken: string | undefined;
  const secretFile = openSecretFile(join(env.dataDir, "auth-secret"), () => randomBytes(32).toString("base64url"));
  let authSecret = secretFile.text;
  let hasUnreadableSecrets = false;

  const getService = (): Service => {
    if (!service) throw new Error("The embedded service has not started yet.");
    return service;
  };
  const applyChange: PeerListener["onData"] = (change) => {
    jobResponses.invalidate(change?.baseUrl);
    liveHub.handleChange(change);
  };
  const publishChange: Composition["publishChange"] = (change) => {
    applyChange(change);
    store.peers.publishData(change);
  };
  const getUpstreamOptions: Composition["getUpstreamOptions"] = ({ connectionId, baseUrl, dialect, apiKey }) => ({
    baseUrl,
    apiKey,
    send: removeKeyFromHeaders(
      isEmbedded(baseUrl) ? (request) => getService().fetch(request) : dialect === "local" ? sendLocal : sendHttp,
      apiKey,
    ),
    sendForeign: removeKeyFromHeaders(sendForeign, apiKey),
    now,
    limits: upstreamLimits,
    record(operation, status) {
      capabilities.record(connectionId, operation, status);
      if (!returnsBytes(operation) && status < 500) pictureBreaker.probeNow(connectionId);
    },
    isSecondRefusal: (operation, item) => capabilities.recordItemRefusal(connectionId, operation, item),
    responseReader,
    parsedResponses: jobResponses.getParsedResponses(connectionId, apiKey),
    onChange: () => publishChange({ baseUrl }),
    readCatalogue: createCatalogueReader({ responseReader, cache: catalogues, connectionId }),
    connectionId,
    responseTracker: isEmbedded(baseUrl) ? undefined : { tracker: responseTracker, service: `${connectionId} ${baseUrl}` },
  });

  /** Counted in memory with a single process, otherwise in the database. A burst of 0 means no limit. */
  const createLimit = (name: string, burst: number, refillMs: number): AttemptLimit =>
    env.databaseUrl === undefined || burst === 0
      ? createAttemptLimit({ now, burst, refillMs })
      : createSharedLimit({ attempts: store.attempts, now, limitName: name, burst, refillMs });

  /** With SQLite, the shared secret isn't used, but may remain from an earlier PostgreSQL database. */
  const sharedSecrets = env.databaseUrl === undefined ? [] : [listSealedSecret(store.settings)];
  const countStoredSecrets = () => countSecrets([...Object.values(store.sealed), ...sharedSecrets], keyRing);

  async function start(): Promise<void> {
    await rm(formsFolder, { recursive: true, force: true });
    await requireConsoleRows(env.dataDir, env.databaseUrl);
    await store.migrate();
    const secrets = await countStoredSecrets();
    // The migration rejects an empty database next to saved keys, so new keys are saved only afterwards.
    saveKeyRing(openedKeyRing, secrets);
    secretFile.save();
    hasUnreadableSecrets = secrets.unreadable > 0;
    if (hasUnreadableSecrets) log.error(secrets, "stored secrets unreadable");
    if (env.databaseUrl !== undefined) authSecret = await loadSharedSecret(store.settings, keyRing, authSecret);
    await store.peers.start({
      onConnection(connectionId) {
        capabilities.clear(connectionId);
        jobIndex.reader.restart(connectionId);
      },
      onData: applyChange,
      onError: (err) => log.error({ err }, "change notification failed"),
    });
    jobIndex.sweep();
    const { createService } = await import("@/lib/service/index");
    const embeddedService = createService({
      ...env.service,
      // A redirect would lead back to this process, which would have to fetch the file itself.
      presignedSeconds: undefined,
      dataDir: join(env.dataDir, "service"),
      shippedImagesDir: join(env.root, "public", "samples"),
      workerPath: join(env.root, "dist", "node-worker.mjs"),
      now,
      log,
    });
    await embeddedService.start();
    service = embeddedService;
    if (!(await store.members.hasOwner())) {
      setUpToken = randomBytes(32).toString("base64url");
      // Several consoles may start together on one database and each print a link, so earlier links remain valid for a while.
      await store.setUpToken.replace(setUpToken, now(), env.databaseUrl === undefined ? 0 : SET_UP_LINK_LIFETIME_MS);
    }
  }
  const webhooks = createWebhooks({ webhooks: store.webhooks, ring: keyRing, log, now, send: sendForeign });
  const submissionsInFlight: Composition["submissionsInFlight"] = new Map();
  // Reserved after startup, because the startup may need that disk space.
  const ready = start().then(() => {
    if (!ensureReserve(env.dataDir)) log.error({ dataDir: env.dataDir }, "console disk full");
  });
  // Callers that await `ready` get the error. Without this line, Node would exit before they could.
  ready.catch(() => undefined);

  const readiness = createReadiness({
    store: async () => void (await store.members.hasOwner()),
    async service() {
      const unreadyParts = (await getService().readiness()).filter((state) => !state.ready);
      return unreadyParts.length === 0 ? undefined : createNotReady(unreadyParts.map(({ part, reason }) => `${part}: ${reason}`).join(" "));
    },
    disk: () => checkDisk(env.dataDir),
    async "key ring"() {
      if (!hasUnreadableSecrets) return undefined;
      const { count, unreadable } = await countStoredSecrets();
      const reason = `The key ring can't open ${unreadable} of ${formatCount(count, "stored secret")}. Run npm run doctor.`;
      // Everything else works, and members can enter the lost keys again in the settings.
      return unreadable === 0 ? undefined : { ready: true, reason };
    },
    workers: () => (existsSync(responseWorkerPath) ? undefined : createNotReady("The worker that reads large responses is not built.")),
  });

  return {
    env,
    log,
    store,
    jobIndex,
    keyRing,
    get authSecret() {
      return authSecret;
    },
    now,
    capabilities,
    thumbnails: createDiskCache(thumbnailCacheOptions),
    pictureBreaker,
    assetPreviews: createAssetPreviewCache(now),
    seenNames: createSeenNames(),
    classNames: createClassNames(),
    runKeys: createRunKeyCache(),
    signInLimits: createSignInLimits(store.attempts, now),
    memberLimit: createLimit("member", env.rateLimit, 60_000 / Math.max(1, env.rateLimit)),
    wrongTokenLimit: createLimit("wrong token", 20, 10_000),
    tokenLimit: createLimit("token", 20, 10_000),
    // Generous, because an office may share one IP address. Successful attempts are refunded.
    oidcLimit: createLimit("oidc", 120, 500),
    shareLimit: createLimit("share", 600, 100),
    // Generous, because an office may share one IP address, and each page requests a ticket every few minutes.
    ticketLimit: createLimit("ticket", 120, 500),
    hostKeys: createHostKeys({ keyRing, now, log, sendLocal: sendHttp, sendForeign }),
    submissionsInFlight,
    nodeInfos: createLru({ max: MAX_NODE_INFOS }),
    queuePositions: createLru({ max: MAX_QUEUE_POSITIONS }),
    formsFolder,
    ready,
    readiness,
    serviceKeys: () => getService().keys,
    serviceRunners: () => getService().runners,
    getUpstreamOptions,
    getUpstream: (target, hooks) => createUpstream({ ...getUpstreamOptions(target), ...hooks }),
    openFeed: async (target, client, listener) =>
      isEmbedded(target.baseUrl)
        ? getService().subscribe(target.apiKey ?? "", client, (message) => listener.send(message))
        : subscribeToService(target, client, listener),
    clientId,
    liveOutputs,
    jobResponses,
    liveHub,
    publishChange,
    webhooks,
    getSetUpUrl: () => setUpToken && `${getConsoleUrl(env)}/set-up?token=${setUpToken}`,
    async stop() {
      // After a failed startup there is nothing to stop, and callers got the error.
      await ready.catch(() => undefined);
      liveHub.stop();
      await webhooks.stop();
      liveOutputs.stop();
      submissionsInFlight.clear();
      await jobIndex.stop();
      await service?.stop();
      await Promise.all([sendHttp.close(), sendForeign.close(), responseReader.close()]);
      await store.close();
      if (getProcessState().composition === this) getProcessState().composition = undefined;
    },
  };
}

/** The folder contains keys and sessions, so only its owner may read it. */
function prepareDataDir(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    throw new EnvError(`LIGHTDESK_DATA_DIR must be a writable folder (${error instanceof Error ? error.message : "unknown error"}).`);
  }
}
