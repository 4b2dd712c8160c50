// Settings of the stand-alone service: its address and data folder, in addition to settings.ts.

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { readByName, readServiceSettings, type ServiceSettings, whole } from "./settings";

const folder = "a folder for the data";
const publicUrl = "the address under which others reach it, such as https://service.example.com";

const schema = z.object({
  PORT: whole(0, 65_535, "a port number from 0 to 65535").default(8288),
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, "a host name or an address to listen on, such as 127.0.0.1")
    .default("127.0.0.1"),
  LIGHTDESK_DATA_DIR: z.string().min(1, folder).max(1000, folder).default(".lightdesk").transform(toAbsolute),
  LIGHTDESK_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: publicUrl })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
});

export type ServiceEnv = { port: number; host: string; dataDir: string; publicUrl?: string; settings: ServiceSettings };
export type EnvReading = { ok: true; env: ServiceEnv } | { ok: false; problems: string[] };

export function readServiceEnv(source: Readonly<Record<string, string | undefined>> = process.env): EnvReading {
  const place = readByName(schema, source);
  const rest = readServiceSettings(source);
  if (!place.ok || !rest.ok) return { ok: false, problems: [...(place.ok ? [] : place.problems), ...(rest.ok ? [] : rest.problems)] };
  const { PORT: port, HOST: host, LIGHTDESK_DATA_DIR: dataDir, LIGHTDESK_PUBLIC_URL: publicUrl } = place.values;
  return { ok: true, env: { port, host, dataDir, publicUrl, settings: rest.settings } };
}

function toAbsolute(folder: string): string {
  return folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : resolve(folder);
}
