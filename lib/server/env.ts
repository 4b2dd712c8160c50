// Reads and validates process.env, once at startup. Error messages name the variable, never a secret's value.

import "server-only";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { findNearestOption } from "@/lib/contract/nodes/input-spec";
import { readServiceSettings, type ServiceSettings } from "@/lib/service/settings";
import { listOidcSettingNames, readProxySignIn, readSignInSettings } from "./sign-in-settings";
import { proxiesFormat, proxiesSchema } from "./trusted-proxies";

/** The first path segments of the console's own URLs. A test compares them with app/ and public/. */
export const reservedNames: ReadonlySet<string> = new Set([
  ...["_next", "api", "ws", "docs", "favicon.ico", "icon.svg", "samples"],
  ...["sign-in", "set-up", "confirmed", "invitation"],
  ...["share", "embed", "embed.js", "embed.d.ts", "embed-worker.js"],
  ...["jobs", "queue", "history", "assets", "files", "run", "apps", "settings", "choose"],
]);

/** A trailing slash is ignored. A lone slash means no base path. */
const basePathSchema = z
  .string()
  .max(100)
  .transform((text) => text.replace(/\/+$/, ""))
  .pipe(z.string().regex(/^(\/[A-Za-z0-9][\w.-]*)*$/))
  .refine((path) => !reservedNames.has(path.split("/")[1] ?? ""));

const basePathFormat = "a path such as /desk: letters, digits, dots, dashes and underscores, and no page of the console's own";

const createIntegerSchema = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));

const SETTING_PREFIX = "LIGHTDESK_";
/** Selects the browser of the browser tests (bin/browser.mjs). */
const TEST_BROWSER_SETTING = "LIGHTDESK_BROWSER";
const MAX_NAME_LENGTH = 200;
const MINUTE_MS = 60_000;
/** With or without the base path, without query or fragment. */
const webUrlSchema = z.url({ protocol: /^https?$/ }).regex(/^[^?#]+$/);
const KEY_PAIR_PATTERN = String.raw`[\w.-]+:[A-Za-z0-9+/=_-]{43,44}`;
/** Allows no character that a message or a page would interpret. */
const productNameSchema = z.string().regex(/^[\p{L}\p{N} .,&+-]{1,60}$/u);
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export type Env = ReturnType<typeof readEnv>;

export class EnvError extends Error {
  readonly code = "BAD_SETTING";
}

/** Next sets this variable for `next build`, which renders pages in separate processes. */
export const isBuild = () => process.env.NEXT_PHASE === "phase-production-build";

export function readEnv(source: Readonly<Record<string, string | undefined>> = process.env, root = process.cwd()) {
  const readSetting = <T>(name: string, schema: z.ZodType<T>, format: string): T | undefined => {
    const text = source[name]?.trim();
    if (text === undefined || text === "") return undefined;
    const parsed = schema.safeParse(text);
    if (!parsed.success) throw new EnvError(`${name} must be ${format}.`);
    return parsed.data;
  };
  const throwError = (message: string): never => {
    throw new EnvError(message);
  };
  const hostNameSchema = z.string().regex(/^[A-Za-z0-9.:_-]+$/);
  const hostListSchema = z.string().regex(/^[A-Za-z0-9.:[\]-]+(,[A-Za-z0-9.:[\]-]+)*$/);
  const flagSchema = z.enum(["0", "1"]).transform((value) => value === "1");
  const dataDir = readSetting("LIGHTDESK_DATA_DIR", z.string().max(1000), "a folder for the data") ?? ".lightdesk";
  const basePath = readSetting("LIGHTDESK_BASE_PATH", basePathSchema, basePathFormat) ?? "";
  const publicUrl = readSetting("LIGHTDESK_PUBLIC_URL", webUrlSchema, "the address people open, such as https://desk.example.com");
  const trustedHosts = readSetting("LIGHTDESK_TRUSTED_HOSTS", hostListSchema, "HOST or HOST:PORT, separated by commas") ?? "";
  const maxSessionMs =
    (readSetting("LIGHTDESK_SESSION_HOURS", createIntegerSchema(1, 8760), "hours from 1 to 8760") ?? 7 * 24) * 60 * MINUTE_MS;
  /** Minutes without use. 0 means no separate idle limit. */
  const idleMinutes =
    readSetting("LIGHTDESK_SESSION_IDLE_MINUTES", createIntegerSchema(0, 525_600), "minutes from 1 to 525600, or 0 for no limit") ??
    3 * 24 * 60;
  const proxySignIn = readProxySignIn(readSetting, throwError);
  const service = readService(source);
  const readMaxIndexedJobs = (name: string) => readSetting(name, createIntegerSchema(100, 1e6), "a number of jobs from 100 to 1000000");
  return {
    root,
    dataDir: toAbsolutePath(root, dataDir),
    /** PostgreSQL for the console and its service. Undefined: SQLite in the data folder. */
    databaseUrl: service.databaseUrl,
    host: readSetting("HOST", hostNameSchema, "a host name or an address to listen on, such as 127.0.0.1") ?? "127.0.0.1",
    port: readSetting("PORT", createIntegerSchema(0, 65535), "a port number from 0 to 65535") ?? 3000,
    /** Empty, or a slash and a name, once or several times. */
    basePath,
    /** Ends with the base path. */
    publicUrl: publicUrl && appendBasePath(publicUrl, basePath),
    encryptionKeys: readSetting(
      "LIGHTDESK_ENCRYPTION_KEYS",
      z.string().regex(new RegExp(`^${KEY_PAIR_PATTERN}(,${KEY_PAIR_PATTERN})*$`)),
      "ID:KEY pairs separated by commas, each KEY 32 bytes in base64; the first key encrypts new values",
    ),
    logLevel: readSetting("LIGHTDESK_LOG_LEVEL", z.enum(logLevels), `one of ${logLevels.join(", ")}`) ?? "info",
    proxies: readSetting("LIGHTDESK_TRUST_PROXY", proxiesSchema, proxiesFormat),
    /** Lower-case `host` or `host:port`. */
    trustedHosts: trustedHosts
      .toLowerCase()
      .split(",")
      .filter((host) => host !== ""),
    /** Requests per minute for one member. 0 means no limit. */
    rateLimit:
      readSetting(
        "LIGHTDESK_RATE_LIMIT",
        createIntegerSchema(0, 1e6),
        "requests a minute for one member, from 1 to 1000000, or 0 for no limit",
      ) ?? 6000,
    session: { idleMs: idleMinutes === 0 ? maxSessionMs : idleMinutes * MINUTE_MS, maxMs: maxSessionMs },
    /** Newest jobs per connection in the job index. */
    maxIndexedJobs: readMaxIndexedJobs("LIGHTDESK_MAX_INDEXED_JOBS") ?? readMaxIndexedJobs("LIGHTDESK_LEDGER_JOBS") ?? 200_000,
    ...readSignInSettings(readSetting, throwError, proxySignIn !== undefined),
    proxySignIn,
    /** Replaces "Lightdesk" for visitors of embedded pages and shares. */
    productName: readSetting("LIGHTDESK_PRODUCT_NAME", productNameSchema, "a name of up to 60 letters, digits, spaces and . , & + -"),
    /** True if links for people without an account can be created and opened. */
    shares: readSetting("LIGHTDESK_SHARES", flagSchema, "0 to turn shares off, otherwise 1") ?? true,
    service,
  };
}

/** The names of all settings, including those of the configured sign-in providers. */
export function listSettingNames(providers: readonly string[]): string[] {
  const names = new Set(listOidcSettingNames(providers));
  readEnv(new Proxy<Record<string, undefined>>({}, { get: (_, name) => void names.add(String(name)) }));
  return [...names].filter((name) => /^(LIGHTDESK_|DATABASE_URL$|PORT$|HOST$)/.test(name));
}

/** A message for each unknown LIGHTDESK_ variable, with the most similar setting. */
export function describeUnknownSettings(source: Readonly<Record<string, string | undefined>> = process.env): string[] {
  const settingNames = listSettingNames(source.LIGHTDESK_OIDC?.split(",") ?? []).filter((name) => name.startsWith(SETTING_PREFIX));
  const unknownNames = Object.keys(source).filter(
    (name) => name.startsWith(SETTING_PREFIX) && !settingNames.includes(name) && name !== TEST_BROWSER_SETTING,
  );
  return unknownNames.sort().map((name) => {
    const suggestion = findNearestOption(
      name.slice(SETTING_PREFIX.length),
      settingNames.map((settingName) => settingName.slice(SETTING_PREFIX.length)),
    );
    const message = `${name.slice(0, MAX_NAME_LENGTH)} is not a setting and has no effect.`;
    return suggestion === undefined ? message : `${message} Did you mean ${SETTING_PREFIX}${String(suggestion)}?`;
  });
}

function readService(source: Readonly<Record<string, string | undefined>>): ServiceSettings {
  const result = readServiceSettings(source);
  if (!result.ok) throw new EnvError(result.problems.join("\n"));
  return result.settings;
}

function toAbsolutePath(root: string, folder: string): string {
  if (folder.startsWith("~/")) return join(homedir(), folder.slice(2));
  return isAbsolute(folder) ? folder : resolve(root, folder);
}

function appendBasePath(publicUrl: string, basePath: string): string {
  const { origin, pathname } = new URL(publicUrl);
  const path = pathname.replace(/\/+$/, "");
  if (path === "" || path === basePath) return origin + basePath;
  const basePathText = basePath === "" ? "is not set" : `is ${basePath}`;
  throw new EnvError(`LIGHTDESK_PUBLIC_URL has the path ${path}, but LIGHTDESK_BASE_PATH ${basePathText}: give both the same path.`);
}

/** Adds the base path to a console path. */
export function getConsolePath({ basePath }: Pick<Env, "basePath">, path: string): string {
  return basePath + path;
}

/** Removes the base path. A proxy may have removed it already. */
export function removeBasePath({ basePath }: Pick<Env, "basePath">, path: string): string {
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
}

/** The console's URL: the public one, otherwise the origin of the current request, otherwise this machine's own. */
export function getConsoleUrl({ publicUrl, host, port, basePath }: Env, requestOrigin: string | null = null): string {
  const hostName = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return publicUrl ?? `${requestOrigin ?? `http://${hostName.includes(":") ? `[${hostName}]` : hostName}:${port}`}${basePath}`;
}
