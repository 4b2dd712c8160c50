// Assets of a connection: lists, details, mask layers and lookup by content hash.

import "server-only";
import { formatTargets } from "@/lib/contract/audit/audit-items";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure, isNotFound } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset, type AssetsQuery, type AssetsResponse } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Context } from "../auth/viewer";
import { findConnection, openConnection, readFromService } from "../connections/access";
import { storeAssetSupport } from "../connections/manage-connections";
import { type AuthedContext } from "../context";
import { toOutcome } from "../operations/audit-targets";
import { getConnectionParam, readJson, readQuery } from "../requests/read-request";
import { redactForBrowser } from "../responses/redact";

export async function listAssets(context: Context, query: AssetsQuery, connectionId?: string): Promise<Result<AssetsResponse, Failure>> {
  const assetsResult = await readFromService(context, connectionId, operations.listAssets, { query });
  const connectionResult = await findConnection(context, connectionId);
  if (connectionResult.ok) await storeAssetSupport(context.composition, connectionResult.value, assetsResult);
  return assetsResult;
}

export async function getAsset(context: Context, id: string, connectionId?: string): Promise<Result<Asset, Failure>> {
  return readFromService(context, connectionId, operations.getAsset, { params: { id } });
}

export async function getMaskLayer(
  context: Context,
  search: URLSearchParams,
  signal?: AbortSignal,
): Promise<Result<{ mask: string | null }, Failure>> {
  const access = await openConnection(context, search.get(CONNECTION_PARAMETER) ?? undefined);
  if (!access.ok) return access;
  const query = readQuery(search, operations.getMaskLayers.query);
  if (!query.ok) return query;
  const layersResult = await access.value.upstream.call(operations.getMaskLayers, { query: query.value, signal });
  if (layersResult.ok) return ok({ mask: redactForBrowser(layersResult.value.mask, access.value) ?? null });
  return isNotFound(layersResult.failure) ? ok({ mask: null }) : failed(redactForBrowser(layersResult.failure, access.value));
}

const { createAssetFromHash } = operations;

/** `isUnclear`: the service accepted the hash, but returned a different one or none. */
type KnownContent = { asset: Asset | null; isUnclear?: true };

export async function createFromKnownContent({ annotateAudit, ...context }: AuthedContext): Promise<Result<KnownContent, Failure>> {
  const access = await openConnection(context, getConnectionParam(context.request));
  if (!access.ok) return access;
  annotateAudit({ connectionId: access.value.connection.id });
  const json = await readJson(context, createAssetFromHash.body.schema);
  if (!json.ok) return json;
  const result = await access.value.upstream.call(createAssetFromHash, { json: json.value, signal: context.request.signal });
  if (!result.ok && result.failure.status !== 404) return failed(redactForBrowser(result.failure, access.value));
  // A response with a different hash proves nothing.
  const asset = result.ok && result.value.asset_hash === json.value.hash ? redactForBrowser(result.value, access.value) : null;
  annotateAudit({ outcome: asset ? formatTargets([asset], toOutcome(asset)) : "unknown hash" });
  return ok({ asset, ...(result.ok && !asset && { isUnclear: true as const }) });
}
