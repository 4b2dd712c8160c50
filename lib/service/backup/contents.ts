// The files of a service backup: the database in one file, and the blobs that it references by hash.

import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { type SqliteConnection } from "@/lib/shared/database/sqlite";
import { blobPath } from "../assets/blob-store";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().min(0);

export const storedFileSchema = z.object({ file: z.string().regex(/^[a-z][a-z0-9.-]*$/), size: count, hash });

export const serviceContentsSchema = z.object({
  database: storedFileSchema,
  schema: z.array(z.string()),
  rows: z.record(z.string(), count),
  /** `lost`: missing or damaged when the backup was made. `elsewhere`: in a bucket, not in the backup. */
  blobs: z.object({ count, bytes: count, lost: z.array(hash), elsewhere: z.boolean().optional() }),
});
export type ServiceContents = z.output<typeof serviceContentsSchema>;

export type Named = { hash: string; size: number };

const AT_ONCE = 1000;

/** The bytes that the database names, in pieces. Each piece is read at once, so that a slow caller does not keep a writer waiting. */
export function* namedBlobs(database: SqliteConnection): Generator<Named[]> {
  const read = database.prepare<[string], Named>(`SELECT hash, size FROM blobs WHERE hash > ? ORDER BY hash LIMIT ${AT_ONCE}`);
  for (let piece = read.all(""); piece.length > 0; piece = read.all(piece.at(-1)?.hash ?? "")) yield piece;
}

export function isNamed(database: SqliteConnection, hash: string): boolean {
  return database.prepare("SELECT 1 FROM blobs WHERE hash = ?").get(hash) !== undefined;
}

export const blobsIn = (place: string) => join(place, "blobs");

export async function blobFile(folder: string, hash: string): Promise<string> {
  const file = blobPath(folder, hash);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const one = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: 8 }, one));
}
