// The stand-alone service's reader of the environment. In the console's process the console's own reader decides, with the same words and defaults.
// Guarantees: every value is checked before anything is opened; a bad one is named together with what it should be.

import { availableParallelism, homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";

const whole = (min: number, max: number, what: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, what)
    .transform(Number)
    .refine((value) => value >= min && value <= max, what);

const text = (what: string) => z.string().min(1, what).max(1000, what);
const halfTheCores = Math.max(1, Math.floor(availableParallelism() / 2));
const publicUrl = "the address under which others reach it, such as https://service.example.com";

const schema = z.object({
  PORT: whole(0, 65_535, "a port number from 0 to 65535").default(8288),
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, "a host name or an address to listen on, such as 127.0.0.1")
    .default("127.0.0.1"),
  LIGHTDESK_DATA_DIR: text("a folder for the data").default(".lightdesk").transform(toAbsolute),
  LIGHTDESK_CONCURRENCY: whole(1, 64, "how many jobs run at once, from 1 to 64").default(halfTheCores),
  LIGHTDESK_MAX_UPLOAD_BYTES: whole(1, 1e15, "the largest upload in bytes").default(100 * 1024 ** 3),
  LIGHTDESK_MAX_JOB_PIXELS: whole(1, 1e12, "the most pixels a job may hold at once").default(256 * 1024 ** 2),
  LIGHTDESK_DOWNLOAD_HOSTS: z
    .string()
    .transform((list) =>
      list
        .split(",")
        .map((entry) => entry.trim().replace(/\/+$/, ""))
        .filter((entry) => entry !== ""),
    )
    .refine(
      (entries) => entries.every((entry) => /^[a-z0-9.-]+$/i.test(entry) || isOrigin(entry)),
      "a comma list of hosts such as huggingface.co, or of origins",
    )
    .optional(),
  LIGHTDESK_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: publicUrl })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
});

export type ServiceEnv = z.infer<typeof schema>;
export type EnvReading = { ok: true; env: ServiceEnv } | { ok: false; problems: string[] };

/** A variable that is set to nothing counts as not set. */
export function readServiceEnv(source: Readonly<Record<string, string | undefined>> = process.env): EnvReading {
  const names = Object.keys(schema.shape);
  const set = Object.fromEntries(names.flatMap((name) => (source[name]?.trim() ? [[name, source[name].trim()]] : [])));
  const parsed = schema.safeParse(set);
  if (parsed.success) return { ok: true, env: parsed.data };
  return { ok: false, problems: parsed.error.issues.map((issue) => `${issue.path.join(".")} must be ${issue.message}.`) };
}

function toAbsolute(folder: string): string {
  return folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : resolve(folder);
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text.toLowerCase();
}
