// The audit log. Rows are only added, and chained by hash.

import "server-only";
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { findFamily } from "@/lib/contract/audit/audit-items";
import { toPlainLine } from "@/lib/contract/plain-line";
import { getErrorCode, isFullDisk, isStoreAway } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { type Database } from "../database";
import { selectTexts } from "../dialect";
import { type Row } from "../tables";
import { hashRow, verifyChain } from "./audit-chain";

/** Longer than any wait that a service requests. */
const MAX_PAUSE_MS = 10 * 60_000;
const MAX_ENTRIES = 1_000;

function createActIdAssigner() {
  const openGroups = createLru<string, { id: string; entries: number; at: number }>({ max: 10_000 });
  return ({ act, action, memberId, via, connectionId, at }: AuditEntry): string | undefined => {
    const family = act === undefined ? undefined : findFamily(action);
    if (family === undefined) return undefined;
    const key = [memberId, via, connectionId, family, act].join(" ");
    const group = openGroups.get(key);
    const isOpen = group && group.entries < MAX_ENTRIES && at - group.at <= MAX_PAUSE_MS;
    const { id, entries } = isOpen ? group : { id: randomUUID(), entries: 0 };
    openGroups.set(key, { id, entries: entries + 1, at });
    return id;
  };
}

export type StoredEntry = Partial<Omit<Row<"audit">, "hash">> & Pick<Row<"audit">, "id" | "at" | "requestId" | "action" | "status">;
/** `act` is the client's id of an action on many things that the entry belongs to. */
type AuditEntry = Omit<StoredEntry, "id" | "actId"> & { act?: string };
/** `upTo` is the newest entry when reading began. Later entries of an act are ignored; they would move it to another page. */
export type AuditSearch = {
  memberId?: string;
  action?: string;
  connectionId?: string;
  from?: number;
  to?: number;
  before?: number;
  upTo?: number;
};
type NewRow = Omit<Row<"audit">, "id" | "hash">;
type ActsPage = { acts: StoredEntry[][]; isOver: boolean };
type LoggedPerson = { id: string; name: string; email?: string };

const MAX_CHOICES = 500;
const MAX_BATCH_SIZE = 100;
/** Few, because an act may have a thousand entries, and a query blocks everything else. */
const ACTS_PER_QUERY = 5;

const TOKEN_PREFIX = "token ";

export function createAuditStore(database: Database) {
  const assignActId = createActIdAssigner();

  const list = async (search: AuditSearch, limit: number): Promise<StoredEntry[]> => {
    const rows = await database
      .selectFrom("audit")
      .selectAll()
      .where(matchSearch("audit", search))
      .$if(search.before !== undefined, (query) => query.where("id", "<", search.before ?? 0))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toEntry);
  };

  /** The newest acts, each with all its entries. The search continues before an act's newest entry. */
  const listNewestActs = async (search: AuditSearch, limit: number): Promise<StoredEntry[][]> => {
    const newer = sql`SELECT 1 FROM audit AS newer WHERE newer.act_id = audit.act_id AND newer.id > audit.id AND ${matchSearch("newer", search)}`;
    const rows = await database
      .selectFrom("audit")
      .selectAll()
      .where(matchSearch("audit", search))
      .where(sql<boolean>`(act_id IS NULL OR NOT EXISTS (${newer}))`)
      .$if(search.before !== undefined, (query) => query.where("id", "<", search.before ?? 0))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    const acts = rows.map((row) => [toEntry(row)]);
    const byAct = new Map(acts.flatMap((entries) => (entries[0]?.actId === undefined ? [] : [[entries[0].actId, entries] as const])));
    if (byAct.size === 0) return acts;
    const all = await database
      .selectFrom("audit")
      .selectAll()
      .where("actId", "in", [...byAct.keys()])
      .where(matchSearch("audit", search))
      .orderBy("id", "desc")
      .execute();
    for (const row of all) {
      const entry = byAct.get(row.actId ?? "");
      if (entry && row.id !== entry[0]?.id) entry.push(toEntry(row));
    }
    return acts;
  };

  /** Returns complete acts up to the limits, but at least one. */
  const listActs = async (search: AuditSearch, limits: { acts: number; entries: number }): Promise<ActsPage> => {
    const acts: StoredEntry[][] = [];
    let entries = 0;
    for (;;) {
      const actCount = Math.min(ACTS_PER_QUERY, limits.acts - acts.length);
      const olderActs = await listNewestActs({ ...search, before: acts.at(-1)?.[0]?.id ?? search.before }, actCount);
      for (const entry of olderActs) {
        if (acts.length > 0 && entries + entry.length > limits.entries) return { acts, isOver: false };
        acts.push(entry);
        entries += entry.length;
      }
      if (olderActs.length < actCount || acts.length >= limits.acts) return { acts, isOver: olderActs.length < actCount };
    }
  };

  const write = async (rows: readonly NewRow[]): Promise<void> =>
    database.transaction().execute(async (transaction) => {
      // Written first, because it locks the log against other writers in all processes.
      const end = await transaction
        .updateTable("auditEnd")
        .set((where) => ({ id: where("id", "+", rows.length) }))
        .returningAll()
        .executeTakeFirstOrThrow();
      let { hash } = end;
      const chainedRows = rows.map((row, index) => {
        const id = end.id - rows.length + 1 + index;
        hash = hashRow(hash, { ...row, id });
        return { ...row, id, hash };
      });
      await transaction.insertInto("audit").values(chainedRows).execute();
      await transaction.updateTable("auditEnd").set({ hash }).execute();
    });

  /** Returns the rows that could not be written, with their errors. One failed row doesn't fail the others. */
  const writeAll = async (rows: readonly NewRow[]): Promise<ReadonlyMap<NewRow, unknown>> => {
    const failed = new Map<NewRow, unknown>();
    try {
      await write(rows);
    } catch (error) {
      const failsForAll =
        rows.length === 1 || isStoreAway(error) || isFullDisk(error) || String(getErrorCode(error)).startsWith("SQLITE_BUSY");
      for (const row of rows) {
        if (failsForAll) failed.set(row, error);
        else await write([row]).catch((reason: unknown) => failed.set(row, reason));
      }
    }
    return failed;
  };

  let batch: { rows: NewRow[]; written: Promise<ReadonlyMap<NewRow, unknown>> } | undefined;
  /** Resolves when all pending commits have ended, successfully or not. */
  let lastWrite: Promise<unknown> = Promise.resolve();
  /** Batches entries of one turn of the event loop, or of a pending commit, into one commit, because each waits for the disk. */
  const writeInBatch = async (row: NewRow): Promise<void> => {
    if (!batch || batch.rows.length >= MAX_BATCH_SIZE) {
      const rows: NewRow[] = [];
      const writing = lastWrite
        .then(() => nextTurn())
        .then(() => {
          if (batch?.rows === rows) batch = undefined;
          return writeAll(rows);
        });
      lastWrite = writing;
      batch = { rows, written: writing };
    }
    batch.rows.push(row);
    const failed = await batch.written;
    if (failed.has(row)) throw failed.get(row);
  };

  /** Members in the log, or the given ones, with the name and email address of their last entry. */
  async function lastNames(ids?: readonly string[]): Promise<LoggedPerson[]> {
    const lastIds = database
      .selectFrom("audit")
      .select(({ fn }) => fn.max("id").as("id"))
      .where("memberId", "is not", null)
      .$if(ids !== undefined, (query) => query.where("memberId", "in", [...(ids ?? [])]))
      .groupBy("memberId");
    const rows = await database
      .selectFrom("audit")
      .select(["memberId", "memberName", "memberEmail"])
      .where("id", "in", lastIds)
      .limit(MAX_CHOICES)
      .execute();
    return rows.map((row) => ({
      id: row.memberId ?? "",
      name: row.memberName ?? "",
      ...(row.memberEmail !== undefined && { email: row.memberEmail }),
    }));
  }

  return {
    lastNames,
    add: (entry: AuditEntry): Promise<void> =>
      writeInBatch({
        at: entry.at,
        requestId: entry.requestId,
        memberId: entry.memberId,
        memberName: toLine(entry.memberName),
        action: entry.action,
        connectionId: entry.connectionId,
        target: toLine(entry.target),
        status: entry.status,
        code: entry.code,
        outcome: toLine(entry.outcome),
        actId: assignActId(entry),
        via: toLine(entry.via),
        memberEmail: toLine(entry.memberEmail),
      }),

    verify: () => verifyChain(database),

    list,
    listActs,
    async newestId(): Promise<number | undefined> {
      const { id } = await database
        .selectFrom("audit")
        .select(({ fn }) => fn.max("id").as("id"))
        .executeTakeFirstOrThrow();
      return id ?? undefined;
    },
    listNewest: (limit: number) => list({}, limit),

    /** The member who first performed the action on each target, by current or last name. Targets without one are absent. */
    async findFirstActors(action: string, targets: readonly string[], connectionId: string): Promise<Map<string, Actor>> {
      const rows = await database
        .selectFrom("audit")
        .leftJoin("members", "members.id", "audit.memberId")
        .select(({ fn }) => ["audit.target", "audit.memberId", "audit.via", fn.coalesce("members.name", "audit.memberName").as("name")])
        .where("audit.target", "in", selectTexts(database, targets))
        .where("audit.action", "=", action)
        .where("audit.connectionId", "=", connectionId)
        .where("audit.status", "<", 300)
        // `+` prevents SQLite from sorting by the index of the action's entries, for which it would read all of them.
        .orderBy(sql`+audit.id`, "desc")
        .execute();
      return new Map(
        rows.flatMap(({ target, name, via, memberId }) =>
          target && name ? [[target, { memberId, name, token: getTokenName(via) }] as const] : [],
        ),
      );
    },

    async hasEntry(actions: readonly string[], connectionId: string): Promise<boolean> {
      const query = database.selectFrom("audit").select("id").where("action", "in", actions).where("connectionId", "=", connectionId);
      return (await query.where("status", "<", 300).limit(1).executeTakeFirst()) !== undefined;
    },

    async choices(): Promise<{ members: LoggedPerson[]; actions: string[] }> {
      const [members, actions] = await Promise.all([
        lastNames(),
        database.selectFrom("audit").select("action").distinct().orderBy("action").limit(MAX_CHOICES).execute(),
      ]);
      return { members, actions: actions.map(({ action }) => action) };
    },
  };
}

type Actor = { memberId: string | undefined; name: string; token: string | undefined };

export function getTokenName(via: string | undefined): string | undefined {
  return via?.startsWith(TOKEN_PREFIX) ? via.slice(TOKEN_PREFIX.length) : undefined;
}

function matchSearch(table: "audit" | "newer", { memberId, action, connectionId, from, to, upTo }: AuditSearch) {
  const column = (name: keyof Row<"audit">) => sql.ref(`${table}.${name}`);
  const conditions = [
    sql`1 = 1`,
    ...(memberId === undefined ? [] : [sql`${column("memberId")} = ${memberId}`]),
    ...(action === undefined ? [] : [sql`${column("action")} = ${action}`]),
    ...(connectionId === undefined ? [] : [sql`${column("connectionId")} = ${connectionId}`]),
    ...(from === undefined ? [] : [sql`${column("at")} >= ${from}`]),
    ...(to === undefined ? [] : [sql`${column("at")} < ${to}`]),
    ...(upTo === undefined ? [] : [sql`${column("id")} <= ${upTo}`]),
  ];
  return sql<boolean>`${sql.join(conditions, sql` AND `)}`;
}

/** Converts to one line, so that untrusted text can't imitate another row or name. */
function toLine(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toPlainLine(text);
}

function toEntry({ hash: _, ...row }: Row<"audit">): StoredEntry {
  const { memberName, target, outcome, via, memberEmail } = row;
  return {
    ...row,
    memberName: toLine(memberName),
    target: toLine(target),
    outcome: toLine(outcome),
    via: toLine(via),
    memberEmail: toLine(memberEmail),
  };
}
