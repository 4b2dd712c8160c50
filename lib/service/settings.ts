// Settings of the embedded service, read from the environment by the console and the stand-alone service. Never reads process.env itself.

import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { availableParallelism, homedir, totalmem } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { blobSettingSchema, type BucketKeys } from "./blob-setting";

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
/** The maximum memory per pixel: three numbers, the file's bytes, and the buffers of an encoder or a kernel. */
const BYTES_PER_PIXEL = 20;
const MAX_PIXELS = 256 * MIB;
const defaultConcurrency = Math.max(1, Math.floor(availableParallelism() / 2));

function createIntegerSchema(min: number, max: number, meaning: string) {
  const description = `${meaning}, from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,16}$/, description)
    .transform(Number)
    .refine((value) => value >= min && value <= max, description);
}

const hostListSchema = z
  .string()
  .transform((list) =>
    list
      .split(",")
      .map((entry) => entry.trim().replace(/\/+$/, ""))
      .filter((entry) => entry !== ""),
  )
  .refine(
    (entries) => entries.every((entry) => /^[a-z0-9.-]+$/i.test(entry) || isOrigin(entry)),
    "a comma-separated list of hosts such as huggingface.co, or of origins",
  );

const TOKEN_PATTERN = /^[\x21-\x7e]{16,1000}$/;
const TOKEN_DESCRIPTION = "at least 16 characters without spaces";
const keyFileDescription = "the absolute path of a file that contains the key";

const settingsSchema = z.object({
  DATABASE_URL: z
    .url({
      protocol: /^postgres(ql)?$/,
      error: "postgres://USER:PASSWORD@HOST:PORT/DATABASE, or unset to use SQLite",
    })
    .optional(),
  LIGHTDESK_CONCURRENCY: createIntegerSchema(1, 64, "the number of concurrent jobs").default(defaultConcurrency),
  LIGHTDESK_MAX_UPLOAD_BYTES: createIntegerSchema(1, 1e15, "the maximum upload size in bytes").default(100 * GIB),
  LIGHTDESK_MAX_JOB_PIXELS: createIntegerSchema(1, 1e12, "the maximum number of pixels per job").optional(),
  LIGHTDESK_MAX_JSON_BYTES: createIntegerSchema(1024, 256 * MIB, "the maximum JSON body size in bytes").default(16 * MIB),
  LIGHTDESK_MAX_JSON_DEPTH: createIntegerSchema(8, 1000, "the maximum depth of JSON").default(100),
  LIGHTDESK_MAX_GRAPH_NODES: createIntegerSchema(1, 100_000, "the maximum number of nodes in a graph").default(5000),
  LIGHTDESK_MAX_IDS_PER_CALL: createIntegerSchema(1, 100_000, "the maximum number of ids per call").default(1000),
  LIGHTDESK_MAX_TAGS_PER_ASSET: createIntegerSchema(1, 10_000, "the maximum number of tags per asset").default(100),
  LIGHTDESK_REQUEST_TIMEOUT_SECONDS: createIntegerSchema(1, 86_400, "the maximum pause within a body in seconds").default(60),
  LIGHTDESK_CONNECTIONS_PER_ADDRESS: createIntegerSchema(1, 1e6, "the maximum number of connections per address").optional(),
  LIGHTDESK_USER_QUOTA_BYTES: createIntegerSchema(1, 1e15, "the maximum number of bytes per user").optional(),
  LIGHTDESK_RETENTION_DAYS: createIntegerSchema(1, 36_500, "the number of days that ended jobs are kept").optional(),
  LIGHTDESK_RETENTION_JOBS: createIntegerSchema(1, 1e9, "the number of ended jobs kept per user").optional(),
  LIGHTDESK_RETENTION_TASK_DAYS: createIntegerSchema(1, 36_500, "the number of days that ended tasks are kept").default(30),
  LIGHTDESK_RETENTION_TASKS: createIntegerSchema(0, 1e9, "the number of ended tasks kept per user").default(1000),
  LIGHTDESK_DOWNLOAD_HOSTS: hostListSchema.optional(),
  LIGHTDESK_DOWNLOADS_AT_ONCE: createIntegerSchema(1, 32, "the number of concurrent downloads").default(2),
  LIGHTDESK_MAX_DOWNLOAD_BYTES: createIntegerSchema(1, 1e15, "the maximum download size in bytes").default(100 * GIB),
  LIGHTDESK_RUNNER_CHECK_SECONDS: createIntegerSchema(1, 3600, "the number of seconds between runner checks").default(5),
  LIGHTDESK_RUNNER_LEASE_SECONDS: createIntegerSchema(1, 86_400, "the number of seconds a runner may be unreachable").default(60),
  LIGHTDESK_RUNNER_SILENCE_SECONDS: createIntegerSchema(1, 604_800, "the number of seconds a job on a runner may report nothing").default(
    1800,
  ),
  LIGHTDESK_BLOBS: blobSettingSchema.optional(),
  LIGHTDESK_S3_ACCESS_KEY_ID: z.string().optional(),
  LIGHTDESK_S3_SECRET_ACCESS_KEY: z.string().optional(),
  LIGHTDESK_S3_ACCESS_KEY_ID_FILE: z.string().refine(isAbsolute, keyFileDescription).optional(),
  LIGHTDESK_S3_SECRET_ACCESS_KEY_FILE: z.string().refine(isAbsolute, keyFileDescription).optional(),
  LIGHTDESK_BLOB_CACHE_BYTES: createIntegerSchema(MIB, 1e15, "the maximum size of the local blob cache in bytes").default(4 * GIB),
  LIGHTDESK_BLOBS_PRESIGNED_SECONDS: createIntegerSchema(1, 3600, "the lifetime of signed bucket URLs in seconds").optional(),
  LIGHTDESK_FFMPEG: z
    .string()
    .refine((path) => path === "none" || (isAbsolute(path) && isExecutable(path)), "the absolute path of an executable ffmpeg, or none")
    .optional(),
  LIGHTDESK_METRICS_TOKEN: z.string().regex(TOKEN_PATTERN, TOKEN_DESCRIPTION).optional(),
  LIGHTDESK_METRICS_TOKEN_FILE: z
    .string()
    .transform((file) => readText(file)?.trim() ?? "")
    .refine((token) => TOKEN_PATTERN.test(token), `a readable file that contains ${TOKEN_DESCRIPTION}`)
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: "the URL of an OTLP endpoint over HTTP, such as http://127.0.0.1:4318" })
    .optional(),
  OTEL_SERVICE_NAME: z.string().max(200, "a name of up to 200 characters").optional(),
});

type Environment = Readonly<Record<string, string | undefined>>;
export type ServiceSettings = ReturnType<typeof toSettings>;
export type SettingsResult = { ok: true; settings: ServiceSettings } | { ok: false; problems: string[] };

export function readServiceSettings(source: Environment): SettingsResult {
  const result = parseEnvironment(settingsSchema, source);
  return result.ok ? { ok: true, settings: toSettings(result.values, source) } : result;
}

function toSettings(values: z.output<typeof settingsSchema>, source: Environment) {
  return {
    /** The URL of a PostgreSQL database. Undefined: SQLite in the data folder. */
    databaseUrl: values.DATABASE_URL,
    concurrency: values.LIGHTDESK_CONCURRENCY,
    maxUploadBytes: values.LIGHTDESK_MAX_UPLOAD_BYTES,
    /** The pixels times the batch size that one job may hold at once. */
    maxJobPixels: values.LIGHTDESK_MAX_JOB_PIXELS ?? getDefaultMaxPixels(values.LIGHTDESK_CONCURRENCY),
    maxJsonBytes: values.LIGHTDESK_MAX_JSON_BYTES,
    maxJsonDepth: values.LIGHTDESK_MAX_JSON_DEPTH,
    maxGraphNodes: values.LIGHTDESK_MAX_GRAPH_NODES,
    maxIdsPerCall: values.LIGHTDESK_MAX_IDS_PER_CALL,
    maxTagsPerAsset: values.LIGHTDESK_MAX_TAGS_PER_ASSET,
    /** The maximum pause within a body. */
    requestTimeoutMs: values.LIGHTDESK_REQUEST_TIMEOUT_SECONDS * 1000,
    /** Undefined: a quarter of the limit of all addresses together. */
    connectionsPerAddress: values.LIGHTDESK_CONNECTIONS_PER_ADDRESS,
    /** Undefined: no quota. */
    userQuotaBytes: values.LIGHTDESK_USER_QUOTA_BYTES,
    /** Undefined: jobs are not removed by age. */
    retentionDays: values.LIGHTDESK_RETENTION_DAYS,
    /** Per user. Undefined: jobs are not removed by number. */
    retentionJobs: values.LIGHTDESK_RETENTION_JOBS,
    retentionTaskDays: values.LIGHTDESK_RETENTION_TASK_DAYS,
    retentionTasks: values.LIGHTDESK_RETENTION_TASKS,
    /** The hosts (with their subdomains, over https) and exact origins that downloads may come from. */
    downloadHosts: values.LIGHTDESK_DOWNLOAD_HOSTS,
    downloadsAtOnce: values.LIGHTDESK_DOWNLOADS_AT_ONCE,
    maxDownloadBytes: values.LIGHTDESK_MAX_DOWNLOAD_BYTES,
    runnerCheckMs: values.LIGHTDESK_RUNNER_CHECK_SECONDS * 1000,
    /** If a runner is unreachable for longer, its jobs move to others. */
    runnerLeaseMs: values.LIGHTDESK_RUNNER_LEASE_SECONDS * 1000,
    /** A running job that reports nothing for longer counts as hanging. */
    runnerUnresponsiveMs: values.LIGHTDESK_RUNNER_SILENCE_SECONDS * 1000,
    /** Undefined: a folder in the data folder. */
    blobs: values.LIGHTDESK_BLOBS,
    bucketKeys: readBucketKeys(values),
    blobCacheBytes: values.LIGHTDESK_BLOB_CACHE_BYTES,
    /** How long signed bucket URLs are valid. Undefined: clients are never redirected to the bucket. */
    presignedSeconds: values.LIGHTDESK_BLOBS_PRESIGNED_SECONDS,
    /** An absolute path. If it is absent, thumbnails of video and audio are placeholders. */
    ffmpeg: values.LIGHTDESK_FFMPEG === "none" ? undefined : (values.LIGHTDESK_FFMPEG ?? findOnPath("ffmpeg", source.PATH)),
    /** The token for metrics and readiness reasons. Undefined: both are disabled. */
    metricsToken: values.LIGHTDESK_METRICS_TOKEN ?? values.LIGHTDESK_METRICS_TOKEN_FILE,
    /** If set, spans are exported. The OpenTelemetry packages read OTEL_… themselves. */
    traces: values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined ? undefined : { serviceName: values.OTEL_SERVICE_NAME },
  };
}

/** Returns a function that reads the keys when the bucket is opened, because settings may be printed and keys must not. */
function readBucketKeys(values: z.output<typeof settingsSchema>): BucketKeys {
  const { LIGHTDESK_S3_ACCESS_KEY_ID: id, LIGHTDESK_S3_SECRET_ACCESS_KEY: secret } = values;
  const { LIGHTDESK_S3_ACCESS_KEY_ID_FILE: idFile, LIGHTDESK_S3_SECRET_ACCESS_KEY_FILE: secretFile } = values;
  const readKeyFile = (name: string, path: string | undefined) => {
    try {
      return path === undefined ? "" : readFileSync(path, "utf8").trim();
    } catch (error) {
      throw new Error(
        `The file of ${name} cannot be read (${error instanceof Error && "code" in error ? String(error.code) : "unknown"}).`,
      );
    }
  };
  if ((id ?? idFile) === undefined && (secret ?? secretFile) === undefined) return undefined;
  return () => ({
    accessKeyId: id ?? readKeyFile("LIGHTDESK_S3_ACCESS_KEY_ID_FILE", idFile),
    secretAccessKey: secret ?? readKeyFile("LIGHTDESK_S3_SECRET_ACCESS_KEY_FILE", secretFile),
  });
}

/** The defaults of all settings. */
export const defaultSettings: ServiceSettings = requireDefaults();

function requireDefaults(): ServiceSettings {
  const result = readServiceSettings({});
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.settings;
}

function parseEnvironment<S extends z.ZodObject>(
  schema: S,
  source: Environment,
): { ok: true; values: z.output<S> } | { ok: false; problems: string[] } {
  const names = Object.keys(schema.shape);
  const values = Object.fromEntries(names.flatMap((name) => (source[name]?.trim() ? [[name, source[name].trim()]] : [])));
  const result = schema.safeParse(values);
  if (result.success) return { ok: true, values: result.data };
  return { ok: false, problems: result.error.issues.map((issue) => `${issue.path.join(".")} must be ${issue.message}.`) };
}

/** All jobs together may use half of the memory. The limit of a container replaces that of the machine. */
function getDefaultMaxPixels(concurrency: number): number {
  const limit = process.constrainedMemory() ?? 0;
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.max(1, Math.min(MAX_PIXELS, Math.floor(memory / 2 / concurrency / BYTES_PER_PIXEL)));
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // reported as an invalid setting
  }
}

function findOnPath(name: string, path: string | undefined): string | undefined {
  return (path ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text.toLowerCase();
}

const folderDescription = "a folder for the data";
const publicUrlDescription = "the public URL of the service, such as https://service.example.com";

const addressSchema = z.object({
  PORT: createIntegerSchema(0, 65_535, "a port number").default(8288),
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, "a host name or an address to listen on, such as 127.0.0.1")
    .default("127.0.0.1"),
  LIGHTDESK_DATA_DIR: z.string().min(1, folderDescription).max(1000, folderDescription).default(".lightdesk").transform(toAbsolute),
  LIGHTDESK_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: publicUrlDescription })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
});

export type ServiceEnv = { port: number; host: string; dataDir: string; publicUrl?: string; settings: ServiceSettings };
export type EnvResult = { ok: true; env: ServiceEnv } | { ok: false; problems: string[] };

export function readServiceEnv(source: Environment): EnvResult {
  const addresses = parseEnvironment(addressSchema, source);
  const settingsResult = readServiceSettings(source);
  if (!addresses.ok || !settingsResult.ok)
    return { ok: false, problems: [...(addresses.ok ? [] : addresses.problems), ...(settingsResult.ok ? [] : settingsResult.problems)] };
  const { PORT: port, HOST: host, LIGHTDESK_DATA_DIR: dataDir, LIGHTDESK_PUBLIC_URL: publicUrl } = addresses.values;
  return { ok: true, env: { port, host, dataDir, publicUrl, settings: settingsResult.settings } };
}

function toAbsolute(folder: string): string {
  return folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : resolve(folder);
}
