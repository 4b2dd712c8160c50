import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Asset, type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";

export async function listAssets(_viewer: Viewer, _query: AssetsQuery, _connection?: string): Promise<Result<AssetsAnswer, Failure>> {
  throw new Error("comes next");
}

export async function getAsset(_viewer: Viewer, _id: string, _connection?: string): Promise<Result<Asset, Failure>> {
  throw new Error("comes next");
}
