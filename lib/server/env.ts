// The one reader of process.env in the console. Every setting is read, checked and named here, once at the start.
// Guarantees: what it returns is complete and absolute; a bad setting is an EnvError naming the variable and what it should be.
// Must never: be read at import time (next build loads modules), or put a secret's value into a message.

import "server-only";
import { availableParallelism, homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { z } from "zod";

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));

const port = { schema: wholeNumber(0, 65535), expected: "a port number from 0 to 65535" };
const webOrigin = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ""));

const settings = {
  PORT: port,
  HOST: { schema: z.string().regex(/^[A-Za-z0-9.:_-]+$/), expected: "a host name or an address to listen on, such as 127.0.0.1" },
  LIGHTDESK_DATA_DIR: { schema: z.string().max(1000), expected: "a folder for the data" },
  LIGHTDESK_PUBLIC_URL: { schema: webOrigin, expected: "the address people open, such as https://desk.example.com" },
  LIGHTDESK_ENCRYPTION_KEYS: {
    schema: z.string().regex(/^[\w.-]+:[A-Za-z0-9+/=_-]{43,44}(,[\w.-]+:[A-Za-z0-9+/=_-]{43,44})*$/),
    expected: "ID:KEY pairs with commas between, each KEY 32 bytes in base64; the first one writes",
  },
  LIGHTDESK_LOG_LEVEL: {
    schema: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
    expected: "one of fatal, error, warn, info, debug, trace, silent",
  },
  LIGHTDESK_TRUST_PROXY: { schema: z.enum(["0", "1"]).transform((value) => value === "1"), expected: "1 behind a reverse proxy, else 0" },
  LIGHTDESK_TRUSTED_HOSTS: {
    schema: z.string().regex(/^[A-Za-z0-9.:[\]-]+(,[A-Za-z0-9.:[\]-]+)*$/),
    expected: "HOST or HOST:PORT, with commas between: hosts of previews and stored bytes that may be on a private network",
  },
  LIGHTDESK_RATE_LIMIT: { schema: wholeNumber(0, 1_000_000), expected: "requests a minute for one member, 0 for no limit" },
  LIGHTDESK_CONCURRENCY: { schema: wholeNumber(1, 64), expected: "how many jobs run at once, from 1 to 64" },
  LIGHTDESK_MAX_UPLOAD_BYTES: { schema: wholeNumber(1, 1e15), expected: "the largest upload in bytes" },
  LIGHTDESK_MAX_JOB_PIXELS: { schema: wholeNumber(1, 1e12), expected: "the most pixels a job may hold at once" },
} as const;

export type Env = {
  root: string;
  dataDir: string;
  host: string;
  port: number;
  publicUrl: string | undefined;
  encryptionKeys: string | undefined;
  logLevel: string;
  trustProxy: boolean;
  /** Lower-case `host` or `host:port`. */
  trustedHosts: readonly string[];
  /** Requests a minute for one member; 0 is no limit. */
  rateLimit: number;
  service: { concurrency: number; maxUploadBytes: number; maxJobPixels: number };
};

export class EnvError extends Error {
  readonly code = "BAD_SETTING";
}

export function readEnv(source: Readonly<Record<string, string | undefined>> = process.env, root = process.cwd()): Env {
  const read = <K extends keyof typeof settings>(name: K): z.output<(typeof settings)[K]["schema"]> | undefined => {
    const text = source[name]?.trim();
    if (text === undefined || text === "") return undefined;
    const parsed = settings[name].schema.safeParse(text);
    if (!parsed.success) throw new EnvError(`${name} must be ${settings[name].expected}.`);
    return parsed.data as z.output<(typeof settings)[K]["schema"]>;
  };
  return {
    root,
    dataDir: absolute(root, read("LIGHTDESK_DATA_DIR") ?? ".lightdesk"),
    host: read("HOST") ?? "127.0.0.1",
    port: read("PORT") ?? 3000,
    publicUrl: read("LIGHTDESK_PUBLIC_URL"),
    encryptionKeys: read("LIGHTDESK_ENCRYPTION_KEYS"),
    logLevel: read("LIGHTDESK_LOG_LEVEL") ?? "info",
    trustProxy: read("LIGHTDESK_TRUST_PROXY") ?? false,
    trustedHosts: (read("LIGHTDESK_TRUSTED_HOSTS") ?? "")
      .toLowerCase()
      .split(",")
      .filter((host) => host !== ""),
    rateLimit: read("LIGHTDESK_RATE_LIMIT") ?? 6000,
    service: {
      concurrency: read("LIGHTDESK_CONCURRENCY") ?? Math.max(1, Math.floor(availableParallelism() / 2)),
      maxUploadBytes: read("LIGHTDESK_MAX_UPLOAD_BYTES") ?? 100 * 1024 ** 3,
      maxJobPixels: read("LIGHTDESK_MAX_JOB_PIXELS") ?? 256 * 1024 ** 2,
    },
  };
}

function absolute(root: string, folder: string): string {
  if (folder.startsWith("~/")) return join(homedir(), folder.slice(2));
  return isAbsolute(folder) ? folder : resolve(root, folder);
}
