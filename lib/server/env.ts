// Reads and validates process.env, once at startup. Error messages name the variable, never a secret's value.

import "server-only";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { z } from "zod";
import { nearestOption } from "@/lib/contract/nodes/input-spec";
import { readServiceSettings, type ServiceSettings } from "@/lib/service/settings";
import { oidcSettingNames, readProxySignIn, readSignInSettings } from "./sign-in-settings";
import { proxiesExpected, proxiesSchema } from "./trusted-proxies";

/** The first names of the console's own addresses; a test compares them with app/ and public/. */
export const ownNames: ReadonlySet<string> = new Set([
  ...["_next", "api", "ws", "docs", "favicon.ico", "icon.svg", "samples"],
  ...["sign-in", "set-up", "confirmed", "invitation"],
  ...["share", "embed", "embed.js", "embed.d.ts", "embed-worker.js"],
  ...["jobs", "queue", "history", "assets", "files", "run", "apps", "settings", "choose"],
]);

/** A slash at the end is ignored; a lone slash means no base path. */
const basePathSchema = z
  .string()
  .max(100)
  .transform((text) => text.replace(/\/+$/, ""))
  .pipe(z.string().regex(/^(\/[A-Za-z0-9][\w.-]*)*$/))
  .refine((path) => !ownNames.has(path.split("/")[1] ?? ""));

const basePathWords = "a path such as /desk: letters, digits, dots, dashes and underscores, and no page of the console's own";

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));

const PREFIX = "LIGHTDESK_";
/** Names the browser of the browser tests (bin/browser.mjs). */
const TEST_BROWSER = "LIGHTDESK_BROWSER";
const MAX_NAME_LENGTH = 200;
const MINUTE_MS = 60_000;
/** With or without the base path, without query or fragment. */
const webAddress = z.url({ protocol: /^https?$/ }).regex(/^[^?#]+$/);
const keyPair = String.raw`[\w.-]+:[A-Za-z0-9+/=_-]{43,44}`;
/** No character that a message or a page would interpret. */
const productName = z.string().regex(/^[\p{L}\p{N} .,&+-]{1,60}$/u);
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export type Env = ReturnType<typeof readEnv>;

export class EnvError extends Error {
  readonly code = "BAD_SETTING";
}

/** Next sets this variable for `next build`, which renders pages in processes of its own. */
export const isBuild = () => process.env.NEXT_PHASE === "phase-production-build";

export function readEnv(source: Readonly<Record<string, string | undefined>> = process.env, root = process.cwd()) {
  const read = <T>(name: string, schema: z.ZodType<T>, expected: string): T | undefined => {
    const text = source[name]?.trim();
    if (text === undefined || text === "") return undefined;
    const parsed = schema.safeParse(text);
    if (!parsed.success) throw new EnvError(`${name} must be ${expected}.`);
    return parsed.data;
  };
  const fail = (message: string): never => {
    throw new EnvError(message);
  };
  const hostName = z.string().regex(/^[A-Za-z0-9.:_-]+$/);
  const hostList = z.string().regex(/^[A-Za-z0-9.:[\]-]+(,[A-Za-z0-9.:[\]-]+)*$/);
  const flag = z.enum(["0", "1"]).transform((value) => value === "1");
  const dataDir = read("LIGHTDESK_DATA_DIR", z.string().max(1000), "a folder for the data") ?? ".lightdesk";
  const basePath = read("LIGHTDESK_BASE_PATH", basePathSchema, basePathWords) ?? "";
  const publicUrl = read("LIGHTDESK_PUBLIC_URL", webAddress, "the address people open, such as https://desk.example.com");
  const trusted = read("LIGHTDESK_TRUSTED_HOSTS", hostList, "HOST or HOST:PORT, separated by commas") ?? "";
  const maxSessionMs = (read("LIGHTDESK_SESSION_HOURS", wholeNumber(1, 8760), "hours from 1 to 8760") ?? 7 * 24) * 60 * MINUTE_MS;
  /** Minutes without use; 0: no separate idle limit. */
  const idleMinutes =
    read("LIGHTDESK_SESSION_IDLE_MINUTES", wholeNumber(0, 525_600), "minutes from 1 to 525600, or 0 for no limit") ?? 3 * 24 * 60;
  const proxySignIn = readProxySignIn(read, fail);
  const service = readService(source);
  return {
    root,
    dataDir: absolute(root, dataDir),
    /** Where the stores of console and service are; undefined: SQLite in the data folder. */
    databaseUrl: service.databaseUrl,
    host: read("HOST", hostName, "a host name or an address to listen on, such as 127.0.0.1") ?? "127.0.0.1",
    port: read("PORT", wholeNumber(0, 65535), "a port number from 0 to 65535") ?? 3000,
    /** Empty, or one or more names, each after a slash. */
    basePath,
    /** Ends with the base path. */
    publicUrl: publicUrl && addressBelow(publicUrl, basePath),
    encryptionKeys: read(
      "LIGHTDESK_ENCRYPTION_KEYS",
      z.string().regex(new RegExp(`^${keyPair}(,${keyPair})*$`)),
      "ID:KEY pairs separated by commas, each KEY 32 bytes in base64; the first one writes",
    ),
    logLevel: read("LIGHTDESK_LOG_LEVEL", z.enum(logLevels), `one of ${logLevels.join(", ")}`) ?? "info",
    proxies: read("LIGHTDESK_TRUST_PROXY", proxiesSchema, proxiesExpected),
    /** Lower-case `host` or `host:port`. */
    trustedHosts: trusted
      .toLowerCase()
      .split(",")
      .filter((host) => host !== ""),
    /** Requests a minute for one member; 0 means no limit. */
    rateLimit: read("LIGHTDESK_RATE_LIMIT", wholeNumber(0, 1e6), "requests a minute for one member, 0 for no limit") ?? 6000,
    session: { idleMs: idleMinutes === 0 ? maxSessionMs : idleMinutes * MINUTE_MS, longestMs: maxSessionMs },
    /** How many jobs of a connection the job index keeps. */
    maxIndexedJobs: read("LIGHTDESK_LEDGER_JOBS", wholeNumber(100, 1e6), "a number of jobs from 100 to 1000000") ?? 200_000,
    ...readSignInSettings(read, fail, proxySignIn !== undefined),
    proxySignIn,
    /** Replaces "Lightdesk" for visitors of embedded pages and shares. */
    productName: read("LIGHTDESK_PRODUCT_NAME", productName, "a name of up to 60 letters, digits, spaces and . , & + -"),
    /** Whether links for people without an account may be made and work. */
    shares: read("LIGHTDESK_SHARES", flag, "0 to switch shares off, else 1") ?? true,
    service,
  };
}

/** The names of all settings: those that the reader requests, and those of the named sign-in providers. */
export function allSettings(providers: readonly string[]): string[] {
  const names = new Set(oidcSettingNames(providers));
  readEnv(new Proxy<Record<string, undefined>>({}, { get: (_, name) => void names.add(String(name)) }));
  return [...names].filter((name) => /^(LIGHTDESK_|DATABASE_URL$|PORT$|HOST$)/.test(name));
}

/** A message for each unknown LIGHTDESK_ variable, with the most similar setting. */
export function unknownSettings(source: Readonly<Record<string, string | undefined>> = process.env): string[] {
  const settingNames = allSettings(source.LIGHTDESK_OIDC?.split(",") ?? []).filter((name) => name.startsWith(PREFIX));
  const unknown = Object.keys(source).filter((name) => name.startsWith(PREFIX) && !settingNames.includes(name) && name !== TEST_BROWSER);
  return unknown.sort().map((name) => {
    const suggestion = nearestOption(
      name.slice(PREFIX.length),
      settingNames.map((settingName) => settingName.slice(PREFIX.length)),
    );
    const sentence = `${name.slice(0, MAX_NAME_LENGTH)} is not a setting and has no effect.`;
    return suggestion === undefined ? sentence : `${sentence} Did you mean ${PREFIX}${String(suggestion)}?`;
  });
}

function readService(source: Readonly<Record<string, string | undefined>>): ServiceSettings {
  const reading = readServiceSettings(source);
  if (!reading.ok) throw new EnvError(reading.problems.join("\n"));
  return reading.settings;
}

function absolute(root: string, folder: string): string {
  if (folder.startsWith("~/")) return join(homedir(), folder.slice(2));
  return isAbsolute(folder) ? folder : resolve(root, folder);
}

function addressBelow(publicUrl: string, basePath: string): string {
  const { origin, pathname } = new URL(publicUrl);
  const path = pathname.replace(/\/+$/, "");
  if (path === "" || path === basePath) return origin + basePath;
  const actual = basePath === "" ? "is not set" : `is ${basePath}`;
  throw new EnvError(`LIGHTDESK_PUBLIC_URL has the path ${path}, but LIGHTDESK_BASE_PATH ${actual}: give both the same path.`);
}

/** A path of the console, as browsers request it. */
export function consolePath({ basePath }: Pick<Env, "basePath">, path: string): string {
  return basePath + path;
}

/** The path within the console. A proxy may have removed the base path already. */
export function pathInConsole({ basePath }: Pick<Env, "basePath">, path: string): string {
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
}

/** Where people open the console: the public address, else the origin at which one of them has it open, else this machine's own. */
export function consoleUrl({ publicUrl, host, port, basePath }: Env, openedAt: string | null = null): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return publicUrl ?? `${openedAt ?? `http://${name.includes(":") ? `[${name}]` : name}:${port}`}${basePath}`;
}
