// The layer that a mask is drawn on again. A picture without one is the usual case and no failure: it is said as null, so that a browser
// does not log each of them as an error. Guarantees: an outage stays one; who has no connection hears that first.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { readQuery } from "../bff/read-request";
import { toBrowser } from "../answers/to-browser";
import { openConnection } from "../connections/access";

/** `search` is that of GET /api/files/mask-layers. */
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
  // Without layers of this picture, or without layers at all.
  return layers.failure.status === 404 || lacksOperation(layers.failure)
    ? ok({ mask: null })
    : failed(toBrowser(layers.failure, access.value));
}
