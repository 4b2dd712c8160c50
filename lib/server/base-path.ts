// What LIGHTDESK_BASE_PATH may be: "/desk", "/tools/desk".
// Guarantees: an address below the base path differs from one whose base path a proxy removed, because no address of the console begins
// with the same name.

import "server-only";
import { z } from "zod";

/** The first names of the console's own addresses; a test compares them with app/ and public/. */
export const ownNames: ReadonlySet<string> = new Set([
  ...["_next", "api", "ws", "favicon.ico", "icon.svg", "samples"],
  ...["sign-in", "set-up", "confirmed", "invitation"],
  ...["share", "embed", "embed.js", "embed.d.ts", "embed-worker.js"],
  ...["jobs", "queue", "history", "assets", "files", "run", "apps", "settings", "choose"],
]);

/** A slash at the end is ignored; a lone slash means no base path. */
export const basePathSchema = z
  .string()
  .max(100)
  .transform((text) => text.replace(/\/+$/, ""))
  .pipe(z.string().regex(/^(\/[A-Za-z0-9][\w.-]*)*$/))
  .refine((path) => !ownNames.has(path.split("/")[1] ?? ""));

export const basePathWords = "a path such as /desk: letters, digits, dots, dashes and underscores, and no page of the console's own";
