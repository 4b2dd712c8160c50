// Finds a page of assets by the search index and the tables, in whichever of three ways the counts say is shortest: along the index of its
// order, testing row by row; along it, looking each row up among those that the search index found; or by gathering all matches and sorting
// them.

import { type RawBuilder, sql } from "kysely";
import { type ReadFilter } from "@/lib/service/assets/asset-filter";
import { type Reader, statement } from "@/lib/service/store/database";
import { type AssetPage, type AssetSort, countOwned, orders, ownersOf } from "../asset-search";
import { findMatching, foundSeqs, gathered, type Matching } from "./counts";
import { anyTag, forOwner, type OwnerFilter } from "./owner-filter";

/** Costs per row, taken from measurements; only their proportions matter. */
const TESTED = 1.5;
const TESTED_WITH_METADATA = 4;
const GATHERED = 1.8;
const LISTED = 0.3;
const LOOKED_UP = 0.3;
const SCANNED = 0.2;

export async function findPage(
  reader: Reader,
  userId: number,
  filter: ReadFilter,
  includePublic: boolean,
  wanted: AssetPage,
): Promise<{ seqs: number[]; total: number }> {
  const parts = await Promise.all(
    ownersOf(userId, includePublic).map(async (owner) => {
      const owned = await forOwner(reader, owner, filter);
      const [everything, matching] = [await countOwned(reader, owner), await findMatching(reader, filter, owned)];
      return { owned, everything, ...matching };
    }),
  );
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  const length = Math.max(0, Math.min(wanted.limit, total - wanted.offset));
  if (length === 0) return { seqs: [], total };

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
  return { seqs: backwards ? seqs.reverse() : seqs, total };
}

/** `everything`: how many assets the owner has; `reach`: how far into the order the page goes. */
type Part = Matching & { owned: OwnerFilter; everything: number; reach: number };

function rowsOf(filter: ReadFilter, part: Part, sort: AssetSort): RawBuilder<unknown> {
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

/** A test of a row by the search index alone, and the length of the list in which the row is looked up. */
function lookedUp(filter: ReadFilter, { owned, total, seqs, everything }: Part): { test: RawBuilder<boolean>; length: number } | undefined {
  const { owner, found, isExact } = owned;
  if (found !== undefined) return isExact ? { test: sql`seq in ${foundSeqs(found, seqs)}`, length: total } : undefined;
  // The filter only asks that some tags are absent.
  return { test: sql`seq not in ${foundSeqs(anyTag(owner, filter.exclude))}`, length: everything - total };
}
