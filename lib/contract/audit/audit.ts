// The audit log as it may be read: who did what, when, on which connection, and what came of it.
// Guarantees: filters that say nothing are absent; a page is bounded. Components import the types only.

import { z } from "zod";
import { integerText, maybe } from "../schemas/lenient";

const text = z.string().trim().min(1).max(200);
const ms = integerText({ min: 0 });

/** `on` is a connection; `from` and `to` are milliseconds since 1970; `within` is hours back from now; `before` is the id of the last entry of the page before, `upTo` what its page said. */
const filterSchema = z.object({
  member: maybe(text),
  action: maybe(text),
  on: maybe(text),
  from: maybe(ms),
  to: maybe(ms),
  within: maybe(integerText({ min: 1, max: 24 * 366 })),
});
export const auditQuerySchema = filterSchema.extend({
  before: maybe(integerText({ min: 1 })),
  upTo: maybe(integerText({ min: 1 })),
  limit: integerText({ min: 1, max: 200 }).default(50),
});
export type AuditFilter = z.infer<typeof filterSchema>;
export type AuditQuery = z.infer<typeof auditQuerySchema>;

export type AuditItem = {
  id: number;
  at: number;
  requestId: string;
  member?: { id: string; name: string };
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
  /** So many requests of the act were refused or failed, where others were not. */
  refused?: number;
};
export type AuditPart = { id: string; name?: string; at: number; isRefused?: true };
/** `upTo`: the newest entry of all when the first page was read; what was written since is on no page after it. */
export type AuditPage = { entries: AuditItem[]; hasMore: boolean; upTo?: number };
/** What a page can be narrowed down to: everybody and every act that the log has met. */
export type AuditChoices = { members: { id: string; name: string }[]; actions: string[] };
