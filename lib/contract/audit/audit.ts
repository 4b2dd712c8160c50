import { z } from "zod";
import { writeExactJson } from "../json/exact-json";
import { parseJson } from "../json/parse-json";
import { roles } from "../members/roles";
import { type Params, type ValuesOf } from "../params";
import { createQuerySchema } from "../schemas/lenient";
import { formatTargets } from "./audit-items";

const textParam = { kind: "text", maxLength: 200, isTrimmed: true } as const;
const timeParam = { kind: "integer", min: 0 } as const;
const idParam = { kind: "integer", min: 1 } as const;

/** `on` is a connection. `from` and `to` are milliseconds since 1970. `within` is a number of hours before now. */
const filterParams = {
  member: textParam,
  action: textParam,
  on: textParam,
  from: timeParam,
  to: timeParam,
  within: { kind: "integer", min: 1, max: 24 * 366 },
} as const satisfies Params;
/** `before`: the id of the last entry of the previous page. `upTo`: the `upTo` of that page. */
export const auditParams = {
  ...filterParams,
  before: idParam,
  upTo: idParam,
  limit: { kind: "integer", min: 1, max: 200, default: 50 },
} as const;
export const auditQuerySchema = createQuerySchema(auditParams);
export type AuditFilter = ValuesOf<typeof filterParams>;
export type AuditQuery = ValuesOf<typeof auditParams>;

export type AuditItem = {
  id: number;
  at: number;
  requestId: string;
  member?: { id: string; name: string; email?: string };
  via?: string;
  action: string;
  connection?: { id: string; name?: string };
  target?: string;
  status: number;
  code?: string;
  outcome?: string;
  /** The structured form of `outcome`. */
  change?: MemberChange;
  parts?: AuditPart[];
  moreParts?: number;
  isAtLeast?: true;
  refused?: number;
};
export type AuditPart = { id: string; name?: string; at: number; isRefused?: true };
/** `upTo`: the newest entry when the first page was read. Later pages omit newer entries. */
export type AuditPage = { entries: AuditItem[]; hasMore: boolean; upTo?: number };
export type AuditFilterValues = { members: { id: string; name: string }[]; actions: string[] };

const MAX_GROUPS = 20;
const changeText = z.string().max(400);
const roleSchema = z.enum(roles);
const changeSchema = z
  .object({
    role: z.union([roleSchema.transform((to) => ({ to })), z.object({ from: roleSchema.optional(), to: roleSchema })]),
    disabled: z.boolean(),
    by: changeText,
    provider: changeText,
    groups: z.array(changeText).max(MAX_GROUPS),
    signUp: z.boolean(),
    invitedBy: changeText,
    of: changeText,
  })
  .partial()
  .strict();
export type MemberChange = z.output<typeof changeSchema> & { role?: { from?: (typeof roles)[number]; to: (typeof roles)[number] } };

/** Returns "name <email>", or only the part that is known. Guests have no email address. */
export function formatMemberIdentity({ name, email }: { name: string; email?: string }): string {
  if (email === undefined || !email.includes("@")) return name;
  return name === "" || name === email ? email : `${name} <${email}>`;
}

type MemberIdentity = { id: string; name: string; email?: string };

/** Stores the name and address, so that later changes don't affect the entry. */
export function describeMember(member: MemberIdentity, change?: MemberChange): { target: string; outcome: string | undefined } {
  const target = formatMemberIdentity(member);
  return { target, outcome: formatTargets([{ id: member.id, name: target }], change && writeExactJson(limitGroups(change))) };
}

function limitGroups(change: MemberChange): MemberChange {
  return { ...change, ...(change.groups && { groups: change.groups.slice(0, MAX_GROUPS).map((group) => group.slice(0, 100)) }) };
}

export function parseMemberChange(outcome: string): MemberChange | undefined {
  return outcome.startsWith("{") ? changeSchema.safeParse(parseJson(outcome)).data : undefined;
}

export function describeMemberChange({ role, disabled, by, provider, groups, signUp, invitedBy, of }: MemberChange): string {
  const providerSuffix = provider === undefined ? "" : ` at ${provider}`;
  return [
    role && `role: ${role.from === undefined || role.from === role.to ? "" : `${role.from} -> `}${role.to}`,
    disabled === undefined ? undefined : disabled ? "suspended" : "let in again",
    groups && `by groups${providerSuffix}: ${groups.join(", ")}`,
    signUp && `by the setting for new people${providerSuffix}`,
    !groups && !signUp && provider !== undefined && `by sign-in${providerSuffix}`,
    invitedBy !== undefined && `invited by ${invitedBy}`,
    by !== undefined && `by ${by}`,
    of !== undefined && `of ${of}`,
  ]
    .filter((part) => typeof part === "string")
    .join("; ");
}
