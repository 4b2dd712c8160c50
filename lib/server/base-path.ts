// What LIGHTDESK_BASE_PATH may be: "/desk", "/tools/desk".
// Guarantees: an address below it is told from one that a proxy took it off, since nothing of the console has its first name.

import "server-only";
import { z } from "zod";

/** The first names of the console's own addresses; a test holds those of app/ and public/ against it. */
export const ownNames: ReadonlySet<string> = new Set([
  ...["_next", "api", "ws", "favicon.ico", "icon.svg", "samples"],
  ...["sign-in", "set-up", "confirmed", "invitation"],
  ...["share", "embed", "embed.js", "embed.d.ts", "embed-worker.js"],
  ...["jobs", "queue", "history", "assets", "files", "run", "apps", "settings", "choose"],
]);

/** A slash at the end means nothing, and a slash alone is none. */
export const basePathSchema = z
  .string()
  .max(100)
  .transform((text) => text.replace(/\/+$/, ""))
  .pipe(z.string().regex(/^(\/[A-Za-z0-9][\w.-]*)*$/))
  .refine((path) => !ownNames.has(path.split("/")[1] ?? ""));

export const basePathWords = "a path such as /desk: letters, digits, dots, dashes and underscores, and no page of the console's own";
