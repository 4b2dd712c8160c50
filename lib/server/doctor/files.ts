// Checks the place where the service keeps the bytes of files (LIGHTDESK_BLOBS): whether it answers, stores, returns and lists them, and
// whose place it is. The trial file is removed again.

import "server-only";
import { existsSync } from "node:fs";
import { tryBlobPlace } from "@/lib/service/index";
import { openToRead } from "@/lib/shared/database/sqlite-copy";
import { type Env } from "../env";
import { attempt, type Finding, noted, passed, wrong } from "./findings";

const CHECK = "files";
const remedy = "Set LIGHTDESK_BLOBS to a place that this user or key may read, write and list, or see to that place.";

/** `own`: the id of the service's database, if it has one. */
export async function checkFiles({ service: settings }: Pick<Env, "service">, own: string | undefined): Promise<Finding> {
  const { blobs } = settings;
  if (!blobs) return passed(CHECK, "They lie in the data folder.");
  const where = blobs.kind === "folder" ? blobs.path : `s3://${blobs.bucket}/${blobs.prefix}`;
  return attempt(
    CHECK,
    async () => {
      const { isThere, mark, keepsFirst } = await tryBlobPlace(blobs, settings);
      if (!isThere) return noted(CHECK, `${where} is not there yet; the first start makes it.`);
      if (mark !== undefined && own !== undefined && mark !== own)
        return wrong(
          CHECK,
          `${where} holds the files of another database.`,
          "Restore that database from a backup, or set LIGHTDESK_BLOBS to a place of its own.",
        );
      if (keepsFirst === false)
        return noted(
          CHECK,
          `${where} can be read, written and listed; it does not know conditional writes, so that a file may be sent twice.`,
        );
      return passed(CHECK, `${where} can be read, written and listed${keepsFirst ? ", and knows conditional writes" : ""}.`);
    },
    remedy,
  );
}

/** The id in the service's database; undefined if there is none yet, or if it cannot be read (a separate check reports that). */
export function readId(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const database = openToRead(file);
    try {
      return database.prepare<[], string>("SELECT id FROM store_ids").pluck().get();
    } finally {
      database.close();
    }
  } catch {
    return undefined; // a separate check reports it
  }
}
