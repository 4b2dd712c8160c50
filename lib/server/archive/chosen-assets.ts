// The assets of a choice, one after the other: named assets are asked for singly, a filtered list page by page.
// Guarantees: holds one page at a time; an asset that cannot be read is yielded as its failure; a list stops at its end, at the limit, or
// when the service repeats itself.

import "server-only";
import { type ArchiveChoice, MOST_ARCHIVED } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toBrowser } from "../answers/to-browser";
import { readQuery } from "../bff/read-request";
import { type Access } from "../connections/access";

const PAGE = 500;

export type Chosen = Result<Asset, Failure & { asset?: string }>;

export async function* chosenAssets(access: Access, choice: ArchiveChoice, signal: AbortSignal): AsyncGenerator<Chosen, void> {
  if ("ids" in choice) {
    for (const id of new Set(choice.ids)) {
      const asset = await access.upstream.call(operations.getAsset, { params: { id }, signal });
      if (!asset.ok && (await access.lostRights())) return yield asset;
      yield asset.ok ? asset : failed({ ...toBrowser(asset.failure, access), asset: id });
    }
    return;
  }
  const read = readListQuery(choice.query);
  if (!read.ok) return yield read;
  let seen: ReadonlySet<string> = new Set();
  for (let offset = 0; offset < MOST_ARCHIVED;) {
    const query = { ...read.value, limit: Math.min(PAGE, MOST_ARCHIVED - offset), offset };
    const page = await access.upstream.call(operations.listAssets, { query, signal });
    if (!page.ok) return yield failed(toBrowser(page.failure, access));
    const fresh = page.value.assets.filter(({ id }) => !seen.has(id));
    for (const asset of fresh) yield ok(asset);
    offset += page.value.assets.length;
    seen = new Set(page.value.assets.map(({ id }) => id));
    const { has_more: hasMore, total } = page.value;
    if (fresh.length === 0 || hasMore === false || (total !== undefined && offset >= total)) return;
  }
}

/** How many assets the choice covers, if the service counts them. */
export async function countChosen(
  access: Access,
  choice: ArchiveChoice,
  signal: AbortSignal,
): Promise<Result<number | undefined, Failure>> {
  if ("ids" in choice) return ok(new Set(choice.ids).size);
  const read = readListQuery(choice.query);
  if (!read.ok) return read;
  const page = await access.upstream.call(operations.listAssets, { query: { ...read.value, limit: 1, offset: 0 }, signal });
  return page.ok ? ok(page.value.total) : failed(toBrowser(page.failure, access));
}

function readListQuery(query: string): Result<Record<string, unknown>, Failure> {
  return readQuery(new URLSearchParams(query), assetsQuerySchema);
}
