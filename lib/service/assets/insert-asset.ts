// Inserts one asset with its tags. Refuses what does not fit into the user's quota.
// Only inside a commit, and only while the caller holds the bytes on disk.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { toFileName } from "@/lib/contract/plain-line";
import { foldName } from "@/lib/shared/text";
import { query, type Transaction } from "../store/database";
import { type AssetOrigin } from "../store/schema";
import { requireRoom } from "./quota";
import { addTags } from "./tags";

export type AssetToInsert = {
  id: string;
  ownerId: number;
  origin: AssetOrigin;
  content: { hash: string; size: number };
  name: string;
  tags: readonly string[];
  metadata: Record<string, unknown>;
  mimeType?: string;
  previewId?: string;
  output?: { jobId: string; nodeId: string; key: string; index: number };
};

/** Returns the row's number. */
export async function insertAsset(tx: Transaction, asset: AssetToInsert, at: number): Promise<number> {
  await requireRoom(tx, asset.ownerId, asset.content);
  const name = toFileName(asset.name);
  const inserted = await tx.row(
    query
      .insertInto("assets")
      .values({
        id: asset.id,
        owner_id: asset.ownerId,
        origin: asset.origin,
        hash: asset.content.hash,
        name,
        name_folded: foldName(name),
        size: asset.content.size,
        mime_type: asset.mimeType ?? null,
        metadata: writeExactJson(asset.metadata),
        preview_id: asset.previewId ?? null,
        prompt_id: asset.output?.jobId ?? null,
        node_id: asset.output?.nodeId ?? null,
        output_key: asset.output?.key ?? null,
        output_index: asset.output?.index ?? null,
        created_at: at,
        updated_at: at,
        last_access_time: at,
      })
      .returning("seq"),
  );
  if (!inserted) throw new Error(`asset ${asset.id} was not inserted`);
  await addTags(tx, inserted.seq, asset.tags, at);
  return inserted.seq;
}
