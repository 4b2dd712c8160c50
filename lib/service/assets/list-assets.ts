// The list of assets: own ones, and public ones where asked for; every filter composes with every other, in every order.
// Guarantees: the total is exact, ties are broken by id in the direction of the order, names are sorted without case (by folded name).
// Of many assets a page is found in memory (see search/memory). Else it is found in one of three ways, by what the counts say is shortest:
// along the index of its order, testing row by row; along it, looking each row up among those that the search index found; or by
// gathering what matches and sorting that.

import { type RawBuilder, sql } from "kysely";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Database, type Reader } from "../store/database";
import { statement } from "../store/statement";
import { PUBLIC_OWNER } from "../users/user";
import { anyTag, forOwner, type OwnerFilter, readFilter, type ReadFilter } from "./asset-filter";
import { readAssets, type StoredAsset } from "./asset-row";
import { countOwned, findMatching, foundSeqs, gathered, type Matching } from "./count-assets";
import { type AssetMemory } from "./search/memory";
import { orders } from "./search/orders";

/** Of one row; taken from measurements, only their proportions matter. */
const TESTED = 1.5;
const TESTED_WITH_METADATA = 4;
const GATHERED = 1.8;
const LISTED = 0.3;
const LOOKED_UP = 0.3;
const SCANNED = 0.2;

type Listed = { assets: StoredAsset[]; total: number; has_more: boolean };

export async function listAssets(
  parts: { database: Database; assetMemory: AssetMemory },
  userId: number,
  wanted: AssetsQuery,
): Promise<Listed> {
  const filter = readFilter(wanted);
  const known = await parts.assetMemory.list(userId, filter, wanted.include_public, wanted);
  if (!known) return fromDatabase(parts.database, userId, wanted, filter);
  const { seqs, total } = known;
  return { assets: await readAssets(parts.database, seqs), total, has_more: wanted.offset + seqs.length < total && seqs.length > 0 };
}

async function fromDatabase(reader: Reader, userId: number, wanted: AssetsQuery, filter: ReadFilter): Promise<Listed> {
  const parts = await Promise.all(
    ownersOf(userId, wanted.include_public).map(async (owner) => {
      const owned = await forOwner(reader, owner, filter);
      const [everything, matching] = [await countOwned(reader, owner), await findMatching(reader, filter, owned)];
      return { owned, everything, ...matching };
    }),
  );
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  const length = Math.max(0, Math.min(wanted.limit, total - wanted.offset));
  if (length === 0) return { assets: [], total, has_more: false };

  const fromEnd = total - wanted.offset - length;
  const backwards = fromEnd < wanted.offset;
  const offset = backwards ? fromEnd : wanted.offset;
  const order = sql.raw((wanted.order === "desc") !== backwards ? "desc" : "asc");
  const branches = parts
    .filter((part) => part.total > 0)
    .map(
      (part) => sql`select assets.seq, assets.id as tie, ${sql.ref(orders[wanted.sort].column)} as place from
      ${rowsOf(filter, { ...part, reach: offset + length }, wanted.sort)}`,
    );
  const page = sql<{ seq: number }>`${sql.join(branches, sql` union all `)} order by place ${order}, tie ${order}
    limit ${length} offset ${offset}`;
  const seqs = (await reader.rows(statement(page))).map((row) => row.seq);
  const assets = await readAssets(reader, backwards ? seqs.reverse() : seqs);
  return { assets, total, has_more: wanted.offset + length < total };
}

export function ownersOf(userId: number, includePublic: boolean): number[] {
  return includePublic ? [userId, PUBLIC_OWNER] : [userId];
}

/** `everything`: how many the owner has; `reach`: how far into the order the page goes. */
type Part = Matching & { owned: OwnerFilter; everything: number; reach: number };

function rowsOf(filter: ReadFilter, part: Part, sort: AssetsQuery["sort"]): RawBuilder<unknown> {
  const { owned, total, seqs, everything, reach } = part;
  const along = sql`assets indexed by ${sql.raw(orders[sort].index)} where owner_id = ${owned.owner}`;
  if (owned.tests.length === 0) return along;
  const steps = Math.min(everything, (reach * everything) / total);
  const walked = steps * (filter.metadata.length > 0 ? TESTED_WITH_METADATA : TESTED);
  const collected = total * GATHERED + (owned.found === undefined ? everything * SCANNED : 0);
  const known = lookedUp(filter, part);
  if (known && steps * LOOKED_UP + known.length * LISTED < Math.min(walked, collected)) return sql`${along} and ${known.test}`;
  return collected < walked ? gathered(owned, seqs) : sql`${along} and ${sql.join(owned.tests, sql` and `)}`;
}

/** What the search index alone says of a row, and how long the list is in which it is looked up. */
function lookedUp(filter: ReadFilter, { owned, total, seqs, everything }: Part): { test: RawBuilder<boolean>; length: number } | undefined {
  const { owner, found, isExact } = owned;
  if (found !== undefined) return isExact ? { test: sql`seq in ${foundSeqs(found, seqs)}`, length: total } : undefined;
  // Nothing is asked for but that some tags are absent.
  return { test: sql`seq not in ${foundSeqs(anyTag(owner, filter.exclude))}`, length: everything - total };
}
