// The audit log. Rows are only added, and chained by hash.

import "server-only";
import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { familyOf } from "@/lib/contract/audit/audit-items";
import { toPlainLine } from "@/lib/contract/plain-line";
import { codeOf, isFullDisk, isStoreAway } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { type Database } from "../database";
import { selectTexts } from "../dialect";
import { type Row } from "../tables";
import { hashRow, verifyChain } from "./audit-chain";

/** Longer than any wait that a service asks for. */
const PAUSE_MS = 10 * 60_000;
const MAX_ENTRIES = 1_000;

function createActIds() {
  const open = createLru<string, { id: string; entries: number; at: number }>({ max: 10_000 });
  return ({ act, action, memberId, via, connectionId, at }: AuditEntry): string | undefined => {
    const family = act === undefined ? undefined : familyOf(action);
    if (family === undefined) return undefined;
    const key = [memberId, via, connectionId, family, act].join(" ");
    const group = open.get(key);
    const isOpen = group && group.entries < MAX_ENTRIES && at - group.at <= PAUSE_MS;
    const { id, entries } = isOpen ? group : { id: randomUUID(), entries: 0 };
    open.set(key, { id, entries: entries + 1, at });
    return id;
  };
}

export type StoredEntry = Partial<Omit<Row<"audit">, "hash">> & Pick<Row<"audit">, "id" | "at" | "requestId" | "action" | "status">;
/** `act`: the client's id of the act on many things that the entry belongs to. */
type AuditEntry = Omit<StoredEntry, "id" | "actId"> & { act?: string };
/** `upTo`: the newest entry when reading began. Later entries of an act are ignored: otherwise it would move, and be missed on its page. */
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
const MAX_AT_ONCE = 100;
/** Few, because an act may have a thousand entries, and a query blocks everything else. */
const ACTS_AT_ONCE = 5;

const TOKEN_WAY = "token ";

export function createAuditStore(database: Database) {
  const actIdOf = createActIds();

  const list = async (search: AuditSearch, limit: number): Promise<StoredEntry[]> => {
    const rows = await database
      .selectFrom("audit")
      .selectAll()
      .where(matching("audit", search))
      .$if(search.before !== undefined, (query) => query.where("id", "<", search.before ?? 0))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toEntry);
  };

  /** The newest entries that no newer one of their act replaces, each with the other entries of its act. */
  const newestActs = async (search: AuditSearch, limit: number): Promise<StoredEntry[][]> => {
    const newer = sql`SELECT 1 FROM audit AS newer WHERE newer.act_id = audit.act_id AND newer.id > audit.id AND ${matching("newer", search)}`;
    const rows = await database
      .selectFrom("audit")
      .selectAll()
      .where(matching("audit", search))
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
      .where(matching("audit", search))
      .orderBy("id", "desc")
      .execute();
    for (const row of all) {
      const entry = byAct.get(row.actId ?? "");
      if (entry && row.id !== entry[0]?.id) entry.push(toEntry(row));
    }
    return acts;
  };

  /** At most this many acts, and none that would exceed the limit of entries; acts are returned whole, and at least one. */
  const listActs = async (search: AuditSearch, limits: { acts: number; entries: number }): Promise<ActsPage> => {
    const acts: StoredEntry[][] = [];
    let entries = 0;
    for (;;) {
      const actCount = Math.min(ACTS_AT_ONCE, limits.acts - acts.length);
      const olderActs = await newestActs({ ...search, before: acts.at(-1)?.[0]?.id ?? search.before }, actCount);
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
      const chained = rows.map((row, index) => {
        const id = end.id - rows.length + 1 + index;
        hash = hashRow(hash, { ...row, id });
        return { ...row, id, hash };
      });
      await transaction.insertInto("audit").values(chained).execute();
      await transaction.updateTable("auditEnd").set({ hash }).execute();
    });

  /** Returns the rows that could not be written, with their errors. One failed row doesn't fail the others. */
  const writeAll = async (rows: readonly NewRow[]): Promise<ReadonlyMap<NewRow, unknown>> => {
    const failed = new Map<NewRow, unknown>();
    try {
      await write(rows);
    } catch (error) {
      const isOfAll = rows.length === 1 || isStoreAway(error) || isFullDisk(error) || String(codeOf(error)).startsWith("SQLITE_BUSY");
      for (const row of rows) {
        if (isOfAll) failed.set(row, error);
        else await write([row]).catch((reason: unknown) => failed.set(row, reason));
      }
    }
    return failed;
  };

  let batch: { rows: NewRow[]; written: Promise<ReadonlyMap<NewRow, unknown>> } | undefined;
  /** Resolves when all pending commits have ended, successfully or not. */
  let last: Promise<unknown> = Promise.resolve();
  /** Batches entries of one turn of the event loop, or of a pending commit, into one commit, as each waits for the disk. */
  const writeWithOthers = async (row: NewRow): Promise<void> => {
    if (!batch || batch.rows.length >= MAX_AT_ONCE) {
      const rows: NewRow[] = [];
      const writing = last
        .then(() => nextTurn())
        .then(() => {
          if (batch?.rows === rows) batch = undefined;
          return writeAll(rows);
        });
      last = writing;
      batch = { rows, written: writing };
    }
    batch.rows.push(row);
    const failed = await batch.written;
    if (failed.has(row)) throw failed.get(row);
  };

  /** Members in the log, or some of them, with the name and address of their last entry. */
  async function lastNames(ids?: readonly string[]): Promise<LoggedPerson[]> {
    const last = database
      .selectFrom("audit")
      .select(({ fn }) => fn.max("id").as("id"))
      .where("memberId", "is not", null)
      .$if(ids !== undefined, (query) => query.where("memberId", "in", [...(ids ?? [])]))
      .groupBy("memberId");
    const rows = await database
      .selectFrom("audit")
      .select(["memberId", "memberName", "memberEmail"])
      .where("id", "in", last)
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
      writeWithOthers({
        at: entry.at,
        requestId: entry.requestId,
        memberId: entry.memberId,
        memberName: plain(entry.memberName),
        action: entry.action,
        connectionId: entry.connectionId,
        target: plain(entry.target),
        status: entry.status,
        code: entry.code,
        outcome: plain(entry.outcome),
        actId: actIdOf(entry),
        via: plain(entry.via),
        memberEmail: plain(entry.memberEmail),
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

    /** The member who first performed the action on each target, by current or last name. Other targets are absent. */
    async findFirstActors(action: string, targets: readonly string[], connectionId: string): Promise<Map<string, Actor>> {
      const rows = await database
        .selectFrom("audit")
        .leftJoin("members", "members.id", "audit.memberId")
        .select(({ fn }) => ["audit.target", "audit.memberId", "audit.via", fn.coalesce("members.name", "audit.memberName").as("name")])
        .where("audit.target", "in", selectTexts(database, targets))
        .where("audit.action", "=", action)
        .where("audit.connectionId", "=", connectionId)
        .where("audit.status", "<", 300)
        // `+` keeps SQLite from sorting by the index of an action's entries, for which it would read all of them.
        .orderBy(sql`+audit.id`, "desc")
        .execute();
      return new Map(
        rows.flatMap(({ target, name, via, memberId }) =>
          target && name ? [[target, { memberId, name, token: tokenIn(via) }] as const] : [],
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

export function tokenIn(via: string | undefined): string | undefined {
  return via?.startsWith(TOKEN_WAY) ? via.slice(TOKEN_WAY.length) : undefined;
}

function matching(table: "audit" | "newer", { memberId, action, connectionId, from, to, upTo }: AuditSearch) {
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

/** One line, so that untrusted text can't imitate another row or name. */
function plain(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toPlainLine(text);
}

function toEntry({ hash: _, ...row }: Row<"audit">): StoredEntry {
  const { memberName, target, outcome, via, memberEmail } = row;
  return {
    ...row,
    memberName: plain(memberName),
    target: plain(target),
    outcome: plain(outcome),
    via: plain(via),
    memberEmail: plain(memberEmail),
  };
}
