// Stores a job's files as blobs and assets. Skips files that exceed the user's quota.

import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { getFileName } from "@/lib/service/assets/asset-view";
import { insertAsset, insertBlob } from "@/lib/service/assets/create-asset";
import { checkQuota } from "@/lib/service/assets/quota";
import { type StagedFile } from "@/lib/service/assets/staged-file";
import { generateId } from "@/lib/service/generate-id";
import { type OtherOutputs, type ProducedFile, type RunEvent } from "@/lib/service/nodes/run";
import { type ServiceError } from "@/lib/service/service-error";
import { type Transaction } from "@/lib/service/store/database";

export type StagedOutput = { file: ProducedFile; staged: Omit<StagedFile, "dispose"> };

export function toStagedOutput(file: ProducedFile): StagedOutput {
  const { path, hash, sha256, byteLength, mimeType } = file;
  return { file, staged: { path, hash, sha256, size: byteLength, mediaType: mimeType } };
}

type FileItem = { filename: string; subfolder: string; type: string; display_name: string };
export type NodeOutput = Record<string, unknown[]>;
export type StoredOutputs = {
  outputs: Record<string, NodeOutput>;
  outputs_count: number;
  has_image: number;
  has_video: number;
  has_audio: number;
  preview: string | null;
};

export function toNodeOutput({ files, texts, others = {} }: Extract<RunEvent, { kind: "node" }>): NodeOutput | undefined {
  const items: Items = new Map();
  for (const file of files) addFile(items, file);
  addOtherOutputs(items, others);
  if (texts) items.set("text", [...texts]);
  return items.size > 0 ? Object.fromEntries(items) : undefined;
}

/** By output key. A map, because keys and node ids come from runners and could equal an object's inherited members. */
type Items = Map<string, unknown[]>;

function addItems(nodeItems: Items, key: string, items: readonly unknown[]): void {
  const previousItems = nodeItems.get(key);
  nodeItems.set(key, previousItems ? [...previousItems, ...items] : copySpellings(items, [...items]));
}

function addFile(nodeItems: Items, { hash, mimeType, displayName, type, key, animated, facts }: ProducedFile): FileItem {
  const filename = getFileName({ hash, media_type: mimeType, name: displayName });
  const item: FileItem = { filename, subfolder: "", type, display_name: displayName, ...facts };
  addItems(nodeItems, key, [item]);
  if (animated) addItems(nodeItems, "animated", [true]);
  return item;
}

function addOtherOutputs(nodeItems: Items, others: OtherOutputs): void {
  for (const [key, items] of Object.entries(others)) addItems(nodeItems, key, items);
}

/** Keeps outputs in the order of their nodes. `quotaError` belongs to the first output that exceeds the quota. */
export async function insertOutputs(
  tx: Transaction,
  job: { id: string; userId: number; at: number },
  stagedOutputs: readonly StagedOutput[],
  { texts, others }: { texts: ReadonlyMap<string, readonly string[]>; others: ReadonlyMap<string, OtherOutputs> },
): Promise<{ storedOutputs: StoredOutputs; quotaError: ServiceError | undefined }> {
  const outputs = new Map<string, Items>();
  const getNodeItems = (nodeId: string): Items => {
    const nodeItems = outputs.get(nodeId) ?? new Map<string, unknown[]>();
    outputs.set(nodeId, nodeItems);
    return nodeItems;
  };
  const previews: { rank: number; value: Record<string, unknown> }[] = [];
  const kinds = new Set<string>();
  let outputCount = 0;
  let quotaError: ServiceError | undefined;

  for (const { file, staged: content } of stagedOutputs) {
    const fileQuotaError = await checkQuota(tx, job.userId, content);
    if (fileQuotaError) {
      quotaError ??= fileQuotaError;
      continue;
    }
    outputCount += 1;
    await insertBlob(tx, content, job.at);
    await insertAsset(
      tx,
      {
        id: generateId(),
        ownerId: job.userId,
        origin: "output",
        content,
        name: file.displayName,
        tags: [file.type],
        metadata: { ...(file.width !== undefined && { width: file.width, height: file.height }), node_id: file.nodeId },
        mimeType: file.mimeType,
        output: { jobId: job.id, nodeId: file.nodeId, key: file.key, index: file.index },
      },
      job.at,
    );
    const item = addFile(getNodeItems(file.nodeId), file);
    kinds.add(file.mimeType.split("/")[0] ?? "");
    previews.push({ rank: file.type === "output" ? 0 : 1, value: { ...item, nodeId: file.nodeId, mediaType: file.key } });
  }
  for (const [nodeId, values] of others) addOtherOutputs(getNodeItems(nodeId), values);
  for (const [nodeId, lines] of texts) {
    getNodeItems(nodeId).set("text", [...lines]);
    const content = lines[0];
    if (content !== undefined) {
      const truncation = content.length > 1024 && { truncated: true };
      previews.push({ rank: 2, value: { content: content.slice(0, 1024), ...truncation, nodeId, mediaType: "text" } });
    }
  }
  const [preview] = previews.sort((a, b) => a.rank - b.rank);
  const storedOutputs: StoredOutputs = {
    outputs: Object.fromEntries([...outputs].map(([nodeId, nodeItems]) => [nodeId, Object.fromEntries(nodeItems)])),
    outputs_count: outputCount,
    has_image: Number(kinds.has("image")),
    has_video: Number(kinds.has("video")),
    has_audio: Number(kinds.has("audio")),
    preview: preview ? writeExactJson(preview.value) : null,
  };
  return { storedOutputs, quotaError };
}
