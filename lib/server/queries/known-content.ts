// Makes an asset of content that the service may already have. A new file is usually unknown; that is answered as null and not as a
// failure, so browsers do not log an error per file. Guarantees: every other refusal is a failure; a missing connection comes first.

import "server-only";
import { writeThings } from "@/lib/contract/audit/audit-items";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { type Asked } from "../bff/guard";
import { outcomeOf } from "../bff/acted-on";
import { readJson, searchOf } from "../bff/read-request";
import { openConnection } from "../connections/access";

const { createAssetFromHash } = operations;

/** `isUnclear`: the service accepted the hash, but named another one or none. */
type KnownContent = { asset: Asset | null; isUnclear?: true };

export async function createOfKnownContent({ request, viewer, note }: Asked): Promise<Result<KnownContent, Failure>> {
  const access = await openConnection(viewer, searchOf(request).get(CONNECTION_PARAMETER) ?? undefined);
  if (!access.ok) return access;
  note({ connectionId: access.value.connection.id });
  const json = await readJson(request, createAssetFromHash.body.schema);
  if (!json.ok) return json;
  const made = await access.value.upstream.call(createAssetFromHash, { json: json.value, signal: request.signal });
  if (!made.ok && made.failure.status !== 404) return failed(toBrowser(made.failure, access.value));
  // An answer that does not name the offered hash proves nothing.
  const asset = made.ok && made.value.asset_hash === json.value.hash ? toBrowser(made.value, access.value) : null;
  note({ outcome: asset ? writeThings([asset], outcomeOf(asset)) : "unknown hash" });
  return ok({ asset, ...(made.ok && !asset && { isUnclear: true as const }) });
}
