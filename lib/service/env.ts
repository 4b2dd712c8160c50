// The stand-alone service's reader of the environment.
// Guarantees: every value is checked before anything is opened; a bad one is named together with what it should be.

import { availableParallelism, homedir } from "node:os";
import { resolve } from "node:path";
import { z } from "zod";

const whole = (min: number, max: number, what: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, what)
    .transform(Number)
    .refine((value) => value >= min && value <= max, what);

/** "half the cores, at least one" */
const defaultConcurrency = Math.max(1, Math.floor(availableParallelism() / 2));
const defaultDataDir = resolve(homedir(), ".lightdesk");

const httpUrl = "should be an http or https URL such as https://desk.example.org";

const schema = z.object({
  PORT: whole(0, 65_535, "should be a port, 0 to 65535").default(8288),
  HOST: z.string().min(1, "should be a host name or an address to listen on").default("127.0.0.1"),
  LIGHTDESK_DATA_DIR: z
    .string()
    .min(1, "should be the path of a folder")
    .default(defaultDataDir)
    .transform((path) => resolve(path)),
  LIGHTDESK_CONCURRENCY: whole(1, 256, "should be a whole number of jobs at once, 1 to 256").default(defaultConcurrency),
  LIGHTDESK_MAX_UPLOAD_BYTES: whole(1, 1e14, "should be a whole number of bytes, at least 1").default(10 * 1024 ** 3),
  LIGHTDESK_MAX_JOB_PIXELS: whole(1, 1e12, "should be a whole number of pixels, at least 1").default(256 * 1024 * 1024),
  LIGHTDESK_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: httpUrl })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
});

export type ServiceEnv = z.infer<typeof schema>;
export type EnvReading = { ok: true; env: ServiceEnv } | { ok: false; problems: string[] };

/** A variable that is set to nothing counts as not set. */
export function readServiceEnv(source: Readonly<Record<string, string | undefined>> = process.env): EnvReading {
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = schema.safeParse(set);
  if (parsed.success) return { ok: true, env: parsed.data };
  return {
    ok: false,
    problems: parsed.error.issues.map(
      (issue) => `${issue.path.join(".")} ${issue.message}; it is ${JSON.stringify(set[String(issue.path[0])])}.`,
    ),
  };
}
