// The images that the samples load: shipped with the service, public and immutable. Every user may load them, no user may change them.
// If a newer version ships an image under the same name, it replaces the content and keeps the id.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { toUuid } from "@/lib/shared/text";
import { type ServiceLog } from "../options";
import { asStorageFailure } from "../storage-failure";
import { type Database, query } from "../store/database";
import { PUBLIC_OWNER } from "../users/keys";
import { type BlobStore } from "./blob-store";
import { insertAsset, insertBlob } from "./create-asset";
import { stageStream } from "./staged-file";

type Stores = { database: Database; blobs: BlobStore; tempFolder: string; now: () => number; log: ServiceLog };

export async function shipPublicAssets(stores: Stores, imagesDir: string): Promise<void> {
  const names = await readdir(imagesDir).catch((error: unknown) => {
    stores.log.warn({ err: error, folder: imagesDir }, "the images of the samples are missing");
    return [];
  });
  for (const name of names.filter((one) => /\.(png|jpe?g|webp)$/i.test(one)).sort()) {
    try {
      await shipOne(stores, join(imagesDir, name), name);
    } catch (error) {
      // A full disk must not keep the service from starting: users can delete something only while it runs.
      if (!asStorageFailure(error)) throw error;
      stores.log.error({ err: error, name }, "an image of the samples could not be stored");
    }
  }
}

async function shipOne(stores: Stores, path: string, name: string): Promise<void> {
  const { database, blobs } = stores;
  const staged = await stageStream(createReadStream(path), { folder: stores.tempFolder, maxBytes: Number.MAX_SAFE_INTEGER });
  try {
    await blobs.hold([staged.hash], async () => {
      await blobs.adopt(staged);
      await database.commit(async (tx) => {
        const at = stores.now();
        await insertBlob(tx, staged, at);
        const shipped = await tx.row(
          query.selectFrom("assets").select(["seq", "hash"]).where("owner_id", "=", PUBLIC_OWNER).where("name", "=", name),
        );
        if (!shipped) {
          const asset = {
            id: idOf(name),
            ownerId: PUBLIC_OWNER,
            origin: "shipped",
            content: staged,
            name,
            tags: ["input"],
            metadata: {},
          } as const;
          await insertAsset(tx, asset, at);
        } else if (shipped.hash !== staged.hash) {
          await tx.run(
            query.updateTable("assets").set({ hash: staged.hash, size: staged.size, updated_at: at }).where("seq", "=", shipped.seq),
          );
        }
      });
    });
  } finally {
    await staged.dispose();
  }
}

/** The same on every machine, so that links to a sample's image stay valid. */
function idOf(name: string): string {
  return toUuid(createHash("sha256").update(`lightdesk public asset ${name}`).digest("hex"), 8);
}
