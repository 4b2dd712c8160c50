// What an action changed about a member, and why: stored as JSON in an audit entry's outcome, and formatted as one English line in exports.

import { z } from "zod";
import { writeExactJson } from "../json/exact-json";
import { roles } from "../people/roles";
import { writeThings } from "./audit-items";

const MAX_GROUPS = 20;
const text = z.string().max(400);
const roleSchema = z.enum(roles);
const changeSchema = z
  .object({
    /** Older entries have only the new role. */
    role: z.union([roleSchema.transform((to) => ({ to })), z.object({ from: roleSchema.optional(), to: roleSchema })]),
    disabled: z.boolean(),
    /** Name and address of the admin who decided it. */
    by: text,
    /** The sign-in provider's display name. */
    provider: text,
    /** The provider's groups that gave the role. `*` matches everybody else. */
    groups: z.array(text).max(MAX_GROUPS),
    /** The default role for people who sign in for the first time. */
    signUp: z.boolean(),
    /** Name and address of the member who created the invitation. */
    invitedBy: text,
    /** Name and address of the member who owns the token or share. */
    of: text,
  })
  .partial()
  .strict();
export type MemberChange = z.output<typeof changeSchema> & { role?: { from?: (typeof roles)[number]; to: (typeof roles)[number] } };

/** How a log names a person: without a name, by the address alone. Guests have no address. */
export function personLabel({ name, email }: { name: string; email?: string }): string {
  if (email === undefined || !email.includes("@")) return name;
  return name === "" || name === email ? email : `${name} <${email}>`;
}

type Person = { id: string; name: string; email?: string };

/** The target and outcome of an entry about a member. Name and address are stored, so later changes don't affect it. */
export function aboutMember(person: Person, change?: MemberChange): { target: string; outcome: string | undefined } {
  const target = personLabel(person);
  return { target, outcome: writeThings([{ id: person.id, name: target }], change && writeExactJson(bounded(change))) };
}

function bounded(change: MemberChange): MemberChange {
  return { ...change, ...(change.groups && { groups: change.groups.slice(0, MAX_GROUPS).map((group) => group.slice(0, 100)) }) };
}

/** Undefined for an outcome of another kind. */
export function readMemberChange(outcome: string): MemberChange | undefined {
  if (!outcome.startsWith("{")) return undefined;
  try {
    return changeSchema.safeParse(JSON.parse(outcome)).data;
  } catch {
    return undefined; // cut, or from another version: it is shown as written
  }
}

export function describeMemberChange({ role, disabled, by, provider, groups, signUp, invitedBy, of }: MemberChange): string {
  const at = provider === undefined ? "" : ` at ${provider}`;
  return [
    role && `role: ${role.from === undefined || role.from === role.to ? "" : `${role.from} -> `}${role.to}`,
    disabled === undefined ? undefined : disabled ? "suspended" : "let in again",
    groups && `by groups${at}: ${groups.join(", ")}`,
    signUp && `by the setting for new people${at}`,
    !groups && !signUp && provider !== undefined && `by sign-in${at}`,
    invitedBy !== undefined && `invited by ${invitedBy}`,
    by !== undefined && `by ${by}`,
    of !== undefined && `of ${of}`,
  ]
    .filter((part) => typeof part === "string")
    .join("; ");
}
