// The user behind a key, and what the server says about itself.

import { z } from "zod";
import { component, count, foreign, named, rare, reads } from "./exact";
import { anyNumber, loosely } from "./lenient";

/** `active` or `waitlisted`; other words are kept and shown. */
export const userSchema = component("User", {
  status: reads(z.string(), z.enum(["active", "waitlisted"])),
  id: loosely(z.string()),
  email: foreign(loosely(z.string())),
  /** From the embedded service, if a quota is set. */
  storage: rare(loosely(z.looseObject({ used_bytes: anyNumber, quota_bytes: anyNumber }))),
});

/** Model folders, or the models in one. */
export const modelNamesSchema = named("ModelNames", z.array(z.string()));

export const featuresSchema = component("Features", {
  supports_preview_metadata: loosely(z.boolean()),
  max_upload_size: loosely(anyNumber),
});
export type Features = z.infer<typeof featuresSchema>;

const exactSystem = z.object({
  os: z.string(),
  ram_total: count,
  ram_free: count,
  comfyui_version: z.string(),
  python_version: z.string(),
  embedded_python: z.boolean(),
  argv: z.array(z.string()),
});
const exactDevice = z.object({
  name: z.string(),
  type: z.string(),
  index: count,
  vram_total: count,
  vram_free: count,
  torch_vram_total: count,
  torch_vram_free: count,
});

export const systemStatsSchema = component("SystemStats", {
  system: reads(z.looseObject({ os: loosely(z.string()) }), exactSystem),
  devices: reads(z.array(z.looseObject({})).catch([]), z.array(exactDevice)),
});
