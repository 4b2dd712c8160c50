// The content of an asset as a stream, by whichever way its service has.
// Guarantees: the extension first, then the file of its hash or name; a refusal of the last way is the answer.

import "server-only";
import { fileOfAsset, toAssetView } from "@/lib/contract/asset-view";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { composition } from "../composition";

export async function openAssetBytes(access: Access, asset: Asset, signal: AbortSignal): Promise<Result<Response, Failure>> {
  if (composition().capabilities.knows(access.connection.id, "assets.content") !== false) {
    const content = await access.upstream.forward(operations.getAssetContent, { params: { id: asset.id }, signal });
    if (content.ok || ![404, 405, 501].includes(content.failure.status)) return content;
  }
  const query = { subfolder: "", ...fileOfAsset(toAssetView(asset)) };
  return access.upstream.forward(operations.view, { query: { ...query, type: query.type ?? "input" }, signal });
}
