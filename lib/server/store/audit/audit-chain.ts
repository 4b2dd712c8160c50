// The hash chain of the audit log: each row contains the hash of its content and of the previous hash.
// The format of a hashed row must not change.

import "server-only";
import { createHash } from "node:crypto";
import { type Kysely } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Row, type Tables } from "../tables";

type HashedRow = Omit<Row<"audit">, "hash">;
export type ChainState = { rows: number; last: string } | { brokenAt: number };

const CHAIN_START = "";
const PAGE_SIZE = 1000;

export function hashRow(previousHash: string, row: HashedRow): string {
  const { id, at, requestId, memberId, memberName, action, connectionId, target, status, code, outcome, actId, via, memberEmail } = row;
  const content = [
    previousHash,
    id,
    at,
    requestId,
    memberId,
    memberName,
    action,
    connectionId,
    target,
    status,
    code,
    outcome,
    // Rows from before these columns existed are hashed without them.
    ...(actId || via || memberEmail ? [actId] : []),
    ...(via || memberEmail ? [via] : []),
    ...(memberEmail ? [memberEmail] : []),
  ];
  return createHash("sha256").update(writeExactJson(content)).digest("hex");
}

export async function verifyChain(database: Kysely<Tables>): Promise<ChainState> {
  // Read first, so that rows added in the meantime don't look like a truncated log.
  const end = await database.selectFrom("auditEnd").select("id").executeTakeFirst();
  let previousHash = CHAIN_START;
  let rows = 0;
  let lastId = 0;
  for await (const row of readRows(database)) {
    if (hashRow(previousHash, row) !== row.hash) return { brokenAt: row.id };
    previousHash = row.hash;
    rows += 1;
    lastId = row.id;
  }
  return Number(end?.id ?? Infinity) > lastId ? { brokenAt: lastId + 1 } : { rows, last: previousHash };
}

async function* readRows(database: Kysely<Tables>): AsyncGenerator<Row<"audit">, void> {
  let lastId = 0;
  for (;;) {
    const page = await database.selectFrom("audit").selectAll().where("id", ">", lastId).orderBy("id").limit(PAGE_SIZE).execute();
    yield* page;
    lastId = Number(page.at(-1)?.id ?? lastId);
    if (page.length < PAGE_SIZE) return;
  }
}
