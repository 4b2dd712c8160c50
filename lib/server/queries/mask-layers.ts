// The layer on which a mask is edited again. Most pictures have none; that is answered as null and not as a failure, so browsers do not log
// an error for each. Guarantees: an outage is a failure; a missing connection comes first.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure, isNotThere } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Viewer } from "../auth/viewer";
import { readQuery } from "../bff/read-request";
import { openConnection } from "../connections/access";

/** `search` is the query of GET /api/files/mask-layers. */
export async function getMaskLayer(
  viewer: Viewer,
  search: URLSearchParams,
  signal?: AbortSignal,
): Promise<Result<{ mask: string | null }, Failure>> {
  const access = await openConnection(viewer, search.get(CONNECTION_PARAMETER) ?? undefined);
  if (!access.ok) return access;
  const query = readQuery(search, operations.getMaskLayers.query);
  if (!query.ok) return query;
  const layers = await access.value.upstream.call(operations.getMaskLayers, { query: query.value, signal });
  if (layers.ok) return ok({ mask: toBrowser(layers.value.mask, access.value) ?? null });
  // No layers for this picture, or a service without layers.
  return isNotThere(layers.failure) ? ok({ mask: null }) : failed(toBrowser(layers.failure, access.value));
}
