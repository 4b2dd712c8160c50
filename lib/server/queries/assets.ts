// Assets for pages.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset, type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { readThrough } from "../connections/access";

export async function listAssets(viewer: Viewer, query: AssetsQuery, connection?: string): Promise<Result<AssetsAnswer, Failure>> {
  return readThrough(viewer, connection, operations.listAssets, { query });
}

export async function getAsset(viewer: Viewer, id: string, connection?: string): Promise<Result<Asset, Failure>> {
  return readThrough(viewer, connection, operations.getAsset, { params: { id: id } });
}
