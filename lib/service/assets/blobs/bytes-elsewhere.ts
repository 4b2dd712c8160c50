// Whether the bytes of a data folder lie in another place: then a file in the folder names that place.
// Guarantees: a folder that was started with LIGHTDESK_BLOBS does not start without it before its files were brought back.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BlobSetting } from "@/lib/service/blob-setting";
import { writeWhole } from "@/lib/shared/files";

const noteIn = (dataDir: string) => join(dataDir, "bytes-elsewhere");

function readNote(dataDir: string): string | undefined {
  return existsSync(noteIn(dataDir)) ? readFileSync(noteIn(dataDir), "utf8").trim() : undefined;
}

export async function noteElsewhere(dataDir: string, blobs: BlobSetting): Promise<void> {
  const place = blobs.kind === "folder" ? blobs.path : `s3://${blobs.bucket}/${blobs.prefix}`;
  if (readNote(dataDir) !== place) await writeWhole(noteIn(dataDir), `${place}\n`);
}

/** A backup does not say in which bucket its files are; the first start with LIGHTDESK_BLOBS notes it. */
export async function noteInBucket(dataDir: string): Promise<void> {
  await writeWhole(noteIn(dataDir), "the bucket of the service that was backed up\n");
}

export function noteHere(dataDir: string): void {
  rmSync(noteIn(dataDir), { force: true });
}

export function requireBytesHere(dataDir: string): void {
  const place = readNote(dataDir);
  if (place !== undefined)
    throw new Error(
      `The files of ${dataDir} lie in ${place}. Set LIGHTDESK_BLOBS as it was; or, with it, bring them back first: npm run copy-blobs -- --to data-folder.`,
    );
}
