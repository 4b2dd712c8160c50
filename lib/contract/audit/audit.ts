// The audit log as it may be read: who did what, when, on which connection, and what came of it.
// Guarantees: filters that say nothing are absent; a page is bounded. Components import the types only.

import { type Params, type ValuesOf } from "../params";
import { querySchema } from "../schemas/lenient";

const text = { kind: "text", most: 200, isTrimmed: true } as const;
const ms = { kind: "integer", min: 0 } as const;
const id = { kind: "integer", min: 1 } as const;

/** `on` is a connection; `from` and `to` are milliseconds since 1970; `within` is hours back from now. */
const filterParams = {
  member: text,
  action: text,
  on: text,
  from: ms,
  to: ms,
  within: { kind: "integer", min: 1, max: 24 * 366 },
} as const satisfies Params;
/** `before` is the id of the last entry of the page before, `upTo` what its page said. */
export const auditParams = { ...filterParams, before: id, upTo: id, limit: { kind: "integer", min: 1, max: 200, usual: 50 } } as const;
export const auditQuerySchema = querySchema(auditParams);
export type AuditFilter = ValuesOf<typeof filterParams>;
export type AuditQuery = ValuesOf<typeof auditParams>;

export type AuditItem = {
  id: number;
  at: number;
  requestId: string;
  member?: { id: string; name: string };
  /** By what of the member's it was done, as "token NAME"; absent: by themselves. */
  via?: string;
  action: string;
  /** Without a name: removed since, or a member's own. */
  connection?: { id: string; name?: string };
  target?: string;
  status: number;
  code?: string;
  outcome?: string;
  /** What it was done to, one by one, newest first; many requests of one act are one entry. */
  parts?: AuditPart[];
  /** So many older ones are not told one by one. */
  moreParts?: number;
  /** There may have been others: how many is not known. */
  isAtLeast?: true;
  /** So many requests of the act were refused or failed, where others were not. */
  refused?: number;
};
export type AuditPart = { id: string; name?: string; at: number; isRefused?: true };
/** `upTo`: the newest entry of all when the first page was read; what was written since is on no page after it. */
export type AuditPage = { entries: AuditItem[]; hasMore: boolean; upTo?: number };
/** What a page can be filtered by: every member and every act in the log. */
export type AuditChoices = { members: { id: string; name: string }[]; actions: string[] };
