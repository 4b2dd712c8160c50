// Who changed what, and what the service really answered. Rows are added, never changed, and chained by hash.
// Must never: hold a body; `outcome` is a short summary made by the caller, without secrets.

import "server-only";
import { type Selectable } from "kysely";
import { toPlainLine } from "@/lib/contract/plain-line";
import { CHAIN_START, hashRow, verifyChain } from "./audit-chain";
import { type Database } from "./database";
import { type AuditRow } from "./tables";

export type AuditEntry = {
  at: number;
  requestId: string;
  memberId?: string;
  memberName?: string;
  action: string;
  connectionId?: string;
  target?: string;
  status: number;
  code?: string;
  outcome?: string;
};
export type KeptEntry = AuditEntry & { id: number };
type AuditSearch = { memberId?: string; action?: string; connectionId?: string; from?: number; to?: number; before?: number };
export type AuditStore = ReturnType<typeof createAuditStore>;

const MOST_CHOICES = 500;

export function createAuditStore(database: Database) {
  const list = async (search: AuditSearch, limit: number): Promise<KeptEntry[]> => {
    const { memberId, action, connectionId, from, to, before } = search;
    const rows = await database
      .selectFrom("audit")
      .selectAll()
      .$if(memberId !== undefined, (query) => query.where("member_id", "=", memberId ?? ""))
      .$if(action !== undefined, (query) => query.where("action", "=", action ?? ""))
      .$if(connectionId !== undefined, (query) => query.where("connection_id", "=", connectionId ?? ""))
      .$if(from !== undefined, (query) => query.where("at", ">=", from ?? 0))
      .$if(to !== undefined, (query) => query.where("at", "<", to ?? 0))
      .$if(before !== undefined, (query) => query.where("id", "<", before ?? 0))
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toEntry);
  };

  return {
    async add(entry: AuditEntry): Promise<void> {
      const row = {
        at: entry.at,
        request_id: entry.requestId,
        member_id: entry.memberId ?? null,
        member_name: plain(entry.memberName),
        action: entry.action,
        connection_id: entry.connectionId ?? null,
        target: plain(entry.target),
        status: entry.status,
        code: entry.code ?? null,
        outcome: plain(entry.outcome),
      };
      await database.transaction().execute(async (transaction) => {
        // Written first: from here on no other process writes, the command line neither.
        const { id } = await transaction
          .insertInto("audit")
          .values({ ...row, hash: "" })
          .returning("id")
          .executeTakeFirstOrThrow();
        const before = await transaction
          .selectFrom("audit")
          .select("hash")
          .where("id", "<", id)
          .orderBy("id", "desc")
          .limit(1)
          .executeTakeFirst();
        const hash = hashRow(before?.hash ?? CHAIN_START, { ...row, id });
        await transaction.updateTable("audit").set({ hash }).where("id", "=", id).execute();
      });
    },

    /** How many rows there are and the last hash, or the first row that is not as it was written. */
    verify: () => verifyChain(database),

    /** The newest first. */
    list,
    listNewest: (limit: number) => list({}, limit),

    /** Who did it first, under the name that they have now; undefined where it was not done through the console. */
    async whoDid({ action, target, connectionId }: { action: string; target: string; connectionId: string }): Promise<string | undefined> {
      const row = await database
        .selectFrom("audit")
        .leftJoin("members", "members.id", "audit.member_id")
        .select(({ fn }) => fn.coalesce("members.name", "audit.member_name").as("name"))
        .where("audit.target", "=", target)
        .where("audit.action", "=", action)
        .where("audit.connection_id", "=", connectionId)
        .where("audit.status", "<", 300)
        .orderBy("audit.id")
        .limit(1)
        .executeTakeFirst();
      return row?.name ?? undefined;
    },

    /** Everybody and every act that stands in it; a member under the name of their last entry. */
    async choices(): Promise<{ members: { id: string; name: string }[]; actions: string[] }> {
      const last = database
        .selectFrom("audit")
        .select(({ fn }) => fn.max("id").as("id"))
        .where("member_id", "is not", null)
        .groupBy("member_id");
      const [members, actions] = await Promise.all([
        database.selectFrom("audit").select(["member_id", "member_name"]).where("id", "in", last).limit(MOST_CHOICES).execute(),
        database.selectFrom("audit").select("action").distinct().orderBy("action").limit(MOST_CHOICES).execute(),
      ]);
      return {
        members: members.map(({ member_id: id, member_name: name }) => ({ id: id ?? "", name: name ?? "" })),
        actions: actions.map(({ action }) => action),
      };
    },
  };
}

/** What a service said of itself, or a member of theirs, could otherwise look like another row, or like another name. */
function plain(text: string | undefined): string | null {
  return text === undefined ? null : toPlainLine(text);
}

function toEntry(row: Selectable<AuditRow>): KeptEntry {
  return {
    id: Number(row.id),
    at: Number(row.at),
    requestId: row.request_id,
    memberId: row.member_id ?? undefined,
    memberName: plain(row.member_name ?? undefined) ?? undefined,
    action: row.action,
    connectionId: row.connection_id ?? undefined,
    target: plain(row.target ?? undefined) ?? undefined,
    status: row.status,
    code: row.code ?? undefined,
    outcome: plain(row.outcome ?? undefined) ?? undefined,
  };
}
