// The audit log for its readers: who did what, when, on which connection, and with what outcome.
// Guarantees: empty filters are left out; a page is bounded. Components import the types only.

import { type Params, type ValuesOf } from "../params";
import { querySchema } from "../schemas/lenient";
import { type MemberChange } from "./member-change";

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
/** `before`: the id of the last entry of the previous page; `upTo`: the `upTo` of that page. */
export const auditParams = { ...filterParams, before: id, upTo: id, limit: { kind: "integer", min: 1, max: 200, usual: 50 } } as const;
export const auditQuerySchema = querySchema(auditParams);
export type AuditFilter = ValuesOf<typeof filterParams>;
export type AuditQuery = ValuesOf<typeof auditParams>;

export type AuditItem = {
  id: number;
  at: number;
  requestId: string;
  /** Absent for guests, and if the address is no longer stored. */
  member?: { id: string; name: string; email?: string };
  /** What acted for the member, such as "token NAME"; absent: the member themselves. */
  via?: string;
  action: string;
  /** Without a name: removed since, or a member's own connection. */
  connection?: { id: string; name?: string };
  target?: string;
  status: number;
  code?: string;
  outcome?: string;
  /** What the action changed about a member, and why. `outcome` has the same in one line. */
  change?: MemberChange;
  /** The things it was done to, newest first; many requests of one act are one entry. */
  parts?: AuditPart[];
  /** How many older parts are not listed. */
  moreParts?: number;
  /** There may have been others; how many is not known. */
  isAtLeast?: true;
  /** How many requests of the act were refused or failed while others succeeded. */
  refused?: number;
};
export type AuditPart = { id: string; name?: string; at: number; isRefused?: true };
/** `upTo`: the newest entry of all when the first page was read; later pages list nothing written after it. */
export type AuditPage = { entries: AuditItem[]; hasMore: boolean; upTo?: number };
/** What a page can be filtered by: every member and every act in the log. */
export type AuditChoices = { members: { id: string; name: string }[]; actions: string[] };
