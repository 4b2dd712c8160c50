// The user behind a key, and what the server says of itself.

import { z } from "zod";
import { loosely, maybe, toldNumber } from "./lenient";

/** `active` or `waitlisted`; other words are kept and shown. */
export const userSchema = z.looseObject({
  status: z.string(),
  id: maybe(z.string()),
  email: maybe(z.string()),
  /** Our own service's, where a quota is set. */
  storage: loosely(z.looseObject({ used_bytes: toldNumber, quota_bytes: toldNumber })),
});

export const featuresSchema = z.looseObject({ supports_preview_metadata: maybe(z.boolean()), max_upload_size: maybe(toldNumber) });
export type Features = z.infer<typeof featuresSchema>;

export const systemStatsSchema = z.looseObject({
  system: z.looseObject({ os: maybe(z.string()) }),
  devices: z.array(z.looseObject({})).catch([]),
});
