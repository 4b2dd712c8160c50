// Append-only audit log with a hash chain.

import "server-only";
import { randomUUID } from "node:crypto";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { sql } from "kysely";
import { findFamily } from "@/lib/contract/audit/audit-items";
import { toPlainLine } from "@/lib/contract/plain-line";
import { getErrorCode, isFullDisk, isStoreUnavailable } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { type Database, transactWithReserve } from "../database";
import { selectTexts } from "../dialect";
import { type Row } from "../tables";
import { hashRow, verifyChain } from "./audit-chain";

/** Longer than any delay that a service requests. */
const MAX_PAUSE_MS = 10 * 60_000;
const MAX_GROUP_ENTRIES = 1_000;

function createGroupIdAssigner() {
  const openGroups = createLru<string, { id: string; entries: number; at: number }>({ max: 10_000 });
  return ({ act, action, memberId, via, connectionId, at }: AuditEntry): string | undefined => {
    const family = act === undefined ? undefined : findFamily(action);
    if (family === undefined) return undefined;
    const key = [memberId, via, connectionId, family, act].join(" ");
    const group = openGroups.get(key);
    const isOpen = group && group.entries < MAX_GROUP_ENTRIES && at - group.at <= MAX_PAUSE_MS;
    const { id, entries } = isOpen ? group : { id: randomUUID(), entries: 0 };
    openGroups.set(key, { id, entries: entries + 1, at });
    return id;
  };
}

export type StoredEntry = Partial<Omit<Row<"audit">, "hash">> & Pick<Row<"audit">, "id" | "at" | "requestId" | "action" | "status">;
/** `act` is the client's id of the bulk action that the entry belongs to. */
type AuditEntry = Omit<StoredEntry, "id" | "actId"> & { act?: string };
/** `maxId` is the newest entry when the read started. Later entries are ignored, because they would move a bulk action to another page. */
export type AuditSearch = {
  memberId?: string;
  action?: string;
  connectionId?: string;
  from?: number;
  to?: number;
  before?: number;
  maxId?: number;
};
type NewRow = Omit<Row<"audit">, "id" | "hash">;
type EntryGroupsPage = { groups: StoredEntry[][]; isLastPage: boolean };
type AuditMember = { id: string; name: string; email?: string };

const MAX_FILTER_VALUES = 500;
const MAX_BATCH_SIZE = 100;
/** Small, because a bulk action can have 1,000 entries, and SQLite queries block the event loop. */
const GROUPS_PER_QUERY = 5;

const TOKEN_PREFIX = "token ";

export function createAuditStore(database: Database) {
  const assignGroupId = createGroupIdAssigner();

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

  /** Returns the newest bulk actions and single entries. The next search starts before the newest entry of the last group. */
  const listNewestGroups = async (search: AuditSearch, limit: number): Promise<StoredEntry[][]> => {
    const newerEntryQuery = sql`SELECT 1 FROM audit AS newer WHERE newer.act_id = audit.act_id AND newer.id > audit.id AND ${matchSearch("newer", search)}`;
    const rows = await database
      .selectFrom("audit")
      .selectAll()
      .where(matchSearch("audit", search))
      .where(sql<boolean>`(act_id IS NULL OR NOT EXISTS (${newerEntryQuery}))`)
      .$if(search.before !== undefined, (query) => query.where("id", "<", search.before ?? 0))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    const groups = rows.map((row) => [toEntry(row)]);
    const groupsById = new Map(
      groups.flatMap((entries) => (entries[0]?.actId === undefined ? [] : [[entries[0].actId, entries] as const])),
    );
    if (groupsById.size === 0) return groups;
    const groupRows = await database
      .selectFrom("audit")
      .selectAll()
      .where("actId", "in", [...groupsById.keys()])
      .where(matchSearch("audit", search))
      .orderBy("id", "desc")
      .execute();
    for (const row of groupRows) {
      const group = groupsById.get(row.actId ?? "");
      if (group && row.id !== group[0]?.id) group.push(toEntry(row));
    }
    return groups;
  };

  /** Returns complete groups up to the limits, but at least one. */
  const listEntryGroups = async (search: AuditSearch, limits: { groups: number; entries: number }): Promise<EntryGroupsPage> => {
    const groups: StoredEntry[][] = [];
    let entryCount = 0;
    for (;;) {
      const groupCount = Math.min(GROUPS_PER_QUERY, limits.groups - groups.length);
      const olderGroups = await listNewestGroups({ ...search, before: groups.at(-1)?.[0]?.id ?? search.before }, groupCount);
      for (const group of olderGroups) {
        if (groups.length > 0 && entryCount + group.length > limits.entries) return { groups, isLastPage: false };
        groups.push(group);
        entryCount += group.length;
      }
      if (olderGroups.length < groupCount || groups.length >= limits.groups) return { groups, isLastPage: olderGroups.length < groupCount };
    }
  };

  const write = async (rows: readonly NewRow[]): Promise<void> =>
    transactWithReserve(database, async (transaction) => {
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
    const errorsByRow = new Map<NewRow, unknown>();
    try {
      await write(rows);
    } catch (error) {
      const isGeneralFailure =
        rows.length === 1 || isStoreUnavailable(error) || isFullDisk(error) || String(getErrorCode(error)).startsWith("SQLITE_BUSY");
      for (const row of rows) {
        if (isGeneralFailure) errorsByRow.set(row, error);
        else await write([row]).catch((reason: unknown) => errorsByRow.set(row, reason));
      }
    }
    return errorsByRow;
  };

  let batch: { rows: NewRow[]; result: Promise<ReadonlyMap<NewRow, unknown>> } | undefined;
  /** Resolves when all pending commits have ended, successfully or not. */
  let lastWrite: Promise<unknown> = Promise.resolve();
  /** Batches pending entries into one commit, because each commit waits for the disk. */
  const writeInBatch = async (row: NewRow): Promise<void> => {
    if (!batch || batch.rows.length >= MAX_BATCH_SIZE) {
      const rows: NewRow[] = [];
      const writePromise = lastWrite
        .then(() => yieldToEventLoop())
        .then(() => {
          if (batch?.rows === rows) batch = undefined;
          return writeAll(rows);
        });
      lastWrite = writePromise;
      batch = { rows, result: writePromise };
    }
    batch.rows.push(row);
    const errorsByRow = await batch.result;
    if (errorsByRow.has(row)) throw errorsByRow.get(row);
  };

  /** Returns the logged members (all, or those in `ids`) with their most recent name and email. */
  async function listLoggedMembers(ids?: readonly string[]): Promise<AuditMember[]> {
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
      .limit(MAX_FILTER_VALUES)
      .execute();
    return rows.map((row) => ({
      id: row.memberId ?? "",
      name: row.memberName ?? "",
      ...(row.memberEmail !== undefined && { email: row.memberEmail }),
    }));
  }

  return {
    listLoggedMembers,
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
        actId: assignGroupId(entry),
        via: toLine(entry.via),
        memberEmail: toLine(entry.memberEmail),
      }),

    verify: () => verifyChain(database),

    list,
    listGroups: listEntryGroups,
    async getNewestId(): Promise<number | undefined> {
      const { id } = await database
        .selectFrom("audit")
        .select(({ fn }) => fn.max("id").as("id"))
        .executeTakeFirstOrThrow();
      return id ?? undefined;
    },
    listNewest: (limit: number) => list({}, limit),

    /** Returns the member who first performed the action on each target, with the current or last name. Targets without one are absent. */
    async findFirstActors(action: string, targets: readonly string[], connectionId: string): Promise<Map<string, Actor>> {
      const rows = await database
        .selectFrom("audit")
        .leftJoin("members", "members.id", "audit.memberId")
        .select(({ fn }) => ["audit.target", "audit.memberId", "audit.via", fn.coalesce("members.name", "audit.memberName").as("name")])
        .where("audit.target", "in", selectTexts(database, targets))
        .where("audit.action", "=", action)
        .where("audit.connectionId", "=", connectionId)
        .where("audit.status", "<", 300)
        // `+` keeps SQLite off the action index, which would scan every entry of the action.
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

    async listFilterValues(): Promise<{ members: AuditMember[]; actions: string[] }> {
      const [members, actions] = await Promise.all([
        listLoggedMembers(),
        database.selectFrom("audit").select("action").distinct().orderBy("action").limit(MAX_FILTER_VALUES).execute(),
      ]);
      return { members, actions: actions.map(({ action }) => action) };
    },
  };
}

type Actor = { memberId: string | undefined; name: string; token: string | undefined };

export function getTokenName(via: string | undefined): string | undefined {
  return via?.startsWith(TOKEN_PREFIX) ? via.slice(TOKEN_PREFIX.length) : undefined;
}

function matchSearch(table: "audit" | "newer", { memberId, action, connectionId, from, to, maxId }: AuditSearch) {
  const column = (name: keyof Row<"audit">) => sql.ref(`${table}.${name}`);
  const conditions = [
    sql`1 = 1`,
    ...(memberId === undefined ? [] : [sql`${column("memberId")} = ${memberId}`]),
    ...(action === undefined ? [] : [sql`${column("action")} = ${action}`]),
    ...(connectionId === undefined ? [] : [sql`${column("connectionId")} = ${connectionId}`]),
    ...(from === undefined ? [] : [sql`${column("at")} >= ${from}`]),
    ...(to === undefined ? [] : [sql`${column("at")} < ${to}`]),
    ...(maxId === undefined ? [] : [sql`${column("id")} <= ${maxId}`]),
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
