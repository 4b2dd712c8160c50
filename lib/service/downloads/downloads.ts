// Download sources, their files, and download tasks. Private addresses are rejected for every connection.

import { createLru } from "@/lib/shared/lru";
import { type BlobStore } from "../assets/blob-store";
import { createAssetIfStored, type CreatedAsset, type NewAsset } from "../assets/create-asset";
import { type ServiceLog } from "../options";
import { ServiceError, toErrorBody } from "../service-error";
import { type ServiceSettings } from "../settings";
import { type Database } from "../store/database";
import { type Processes } from "../store/processes";
import {
  createSourceOpener,
  discardBody,
  isPage,
  readContentRange,
  readFileName,
  readLength,
  type SourceOpener,
  type SourceResponse,
} from "./source-opener";
import { createInternalAddressError, createSourceAgents, createSourcePolicy, defaultDownloadHosts, requireSource } from "./sources";
import { findEarlierHash, findTask, type StoredTask } from "./task-rows";
import { createTasks } from "./tasks";

// Uses HEAD, or GET for the first byte, because some stores sign their URLs for GET only.
type SourceDescription = {
  contentLength?: number;
  contentType?: string;
  fileName: string;
  isPage: boolean;
  promisedSha256?: string;
};

const SOURCE_TIMEOUT_MS = 20_000;

async function describeSource(open: SourceOpener, url: URL): Promise<SourceDescription> {
  const signal = AbortSignal.timeout(SOURCE_TIMEOUT_MS);
  const requestOptions = { signal, idleMs: SOURCE_TIMEOUT_MS };
  try {
    const headResponse = await open(url, { ...requestOptions, method: "HEAD", shouldStopAtPromisedHash: true }).catch((error: unknown) => {
      const code = toErrorBody(error)?.code;
      if (code !== "FORBIDDEN" && code !== "UNPROCESSABLE") throw error;
    });
    return toDescription(headResponse ?? (await open(url, { ...requestOptions, method: "GET", range: "bytes=0-0" })), url);
  } catch (error) {
    const errorBody = toErrorBody(error);
    if (errorBody?.code === "UNSUPPORTED_SOURCE") throw error;
    if (errorBody) throw new ServiceError("UNPROCESSABLE", errorBody.message);
    if (signal.aborted) throw new ServiceError("UNPROCESSABLE", "The source did not respond.");
    throw error;
  }
}

function toDescription({ status, headers, promisedSha256, body }: SourceResponse, url: URL): SourceDescription {
  discardBody(body);
  const contentLength =
    status === 200 ? readLength(headers) : status === 206 ? readContentRange(headers)?.total : readLength(headers, "x-linked-size");
  const contentType = status === 200 || status === 206 ? headers["content-type"] : undefined;
  return {
    fileName: readFileName(headers, url),
    isPage: contentType !== undefined && isPage(headers, url),
    ...(contentLength !== undefined && { contentLength }),
    ...(contentType !== undefined && { contentType: contentType.slice(0, 200) }),
    ...(promisedSha256 !== undefined && { promisedSha256 }),
  };
}

export type Downloads = ReturnType<typeof createDownloads>;

type DownloadDependencies = {
  database: Database;
  processes: Processes;
  blobs: BlobStore;
  folders: { downloads: string };
  settings: Pick<ServiceSettings, "downloadHosts" | "downloadsAtOnce" | "maxDownloadBytes" | "requestTimeoutMs">;
  now: () => number;
  log: ServiceLog;
};

const MAX_PROMISED_HASHES = 1000;

export function createDownloads(dependencies: DownloadDependencies) {
  const { database, settings } = dependencies;
  const policy = createSourcePolicy(settings.downloadHosts ?? defaultDownloadHosts);
  const agents = createSourceAgents();
  const openSource = createSourceOpener(policy, agents);
  const tasks = createTasks({
    ...dependencies,
    policy,
    open: openSource,
    folder: dependencies.folders.downloads,
    maxBytes: settings.maxDownloadBytes,
    idleMs: settings.requestTimeoutMs,
    maxConcurrent: settings.downloadsAtOnce,
  });
  const promisedHashes = createLru<string, string>({ max: MAX_PROMISED_HASHES });

  return {
    start: tasks.start,
    reclaimTasks: tasks.reclaimTasks,
    sweep: tasks.sweep,
    create: tasks.create,
    cancel: tasks.cancel,

    async requireSource(text: string, field: string): Promise<URL> {
      const url = requireSource(policy, text, field);
      if (!policy.isTrustedOrigin(url) && (await agents.resolvesToPrivateAddress(url))) throw createInternalAddressError(field);
      return url;
    },

    async describe(url: URL): Promise<SourceDescription> {
      const description = await describeSource(openSource, url);
      promisedHashes.delete(url.href);
      if (description.promisedSha256 !== undefined) promisedHashes.set(url.href, description.promisedSha256);
      return description;
    },

    /** Creates an asset from content that the user already has, if the source or an earlier download provides its hash. */
    async createFromExistingContent(url: URL, newAsset: NewAsset): Promise<CreatedAsset | undefined> {
      const sha256 = promisedHashes.get(url.href);
      const hashes = [sha256 === undefined ? undefined : `sha256:${sha256}`, await findEarlierHash(database, newAsset.ownerId, url)];
      for (const hash of hashes) {
        const createdAsset = hash === undefined ? undefined : await createAssetIfStored(dependencies, hash, newAsset);
        if (createdAsset) return createdAsset;
      }
      return undefined;
    },

    async find(userId: number, id: string): Promise<StoredTask> {
      const task = await findTask(database, id);
      if (task?.user_id !== userId) throw new ServiceError("NOT_FOUND", "There is no such task.");
      return task;
    },

    async stop(): Promise<void> {
      await tasks.stop();
      await agents.close();
    },
  };
}
