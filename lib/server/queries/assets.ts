// Reads assets for pages.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset, type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { findConnection, readThrough } from "../connections/access";
import { lacksAssets } from "../connections/check";

export async function listAssets(viewer: Viewer, query: AssetsQuery, connection?: string): Promise<Result<AssetsAnswer, Failure>> {
  const answer = await readThrough(viewer, connection, operations.listAssets, { query });
  const found = await findConnection(viewer, connection);
  // A local server may have been restarted with or without its asset library.
  if (found.ok && found.value.dialect === "local" && (answer.ok || lacksAssets(answer)) && found.value.hasAssets !== answer.ok)
    await composition().store.connections.change(found.value.id, { hasAssets: answer.ok });
  return answer;
}

export async function getAsset(viewer: Viewer, id: string, connection?: string): Promise<Result<Asset, Failure>> {
  return readThrough(viewer, connection, operations.getAsset, { params: { id: id } });
}
