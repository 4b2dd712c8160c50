// Which code made a result. Another build may compute other pixels, so what an older one stored is not given for its own.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { writeExactJson } from "@/lib/contract/exact-json";

/** In a worker: of the bundle that holds all nodes, and of the library that decodes and encodes for them. */
export const generation = createHash("sha256")
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(writeExactJson(sharp.versions))
  .digest("hex");
