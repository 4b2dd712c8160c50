// Who changed what, and what the service really answered. Rows are added, never changed.
// Must never: hold a body; `outcome` is a short summary made by the caller, without secrets.

import "server-only";
import { type Database } from "./database";

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
export type AuditStore = ReturnType<typeof createAuditStore>;

export function createAuditStore(database: Database) {
  return {
    async add(entry: AuditEntry): Promise<void> {
      await database
        .insertInto("audit")
        .values({
          at: entry.at,
          request_id: entry.requestId,
          member_id: entry.memberId ?? null,
          member_name: entry.memberName ?? null,
          action: entry.action,
          connection_id: entry.connectionId ?? null,
          target: entry.target ?? null,
          status: entry.status,
          code: entry.code ?? null,
          outcome: entry.outcome ?? null,
        })
        .execute();
    },

    async listNewest(limit: number): Promise<AuditEntry[]> {
      const rows = await database.selectFrom("audit").selectAll().orderBy("id", "desc").limit(limit).execute();
      return rows.map((row) => ({
        at: Number(row.at),
        requestId: row.request_id,
        memberId: row.member_id ?? undefined,
        memberName: row.member_name ?? undefined,
        action: row.action,
        connectionId: row.connection_id ?? undefined,
        target: row.target ?? undefined,
        status: row.status,
        code: row.code ?? undefined,
        outcome: row.outcome ?? undefined,
      }));
    },
  };
}
