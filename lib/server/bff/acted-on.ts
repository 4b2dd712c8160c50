// What an entry of the audit log says it was about: ids, and the names that the console's own lists told of them last.
// Guarantees: known before the service is asked to change anything, so that a refusal and a clearing name it too; bounded.
// Must never: write down a name as a service told it; like all that leaves it is masked first.

import "server-only";
import { type AuditThing, idsAsked, idsTold, MOST_THINGS, type ThingsCount } from "@/lib/contract/audit/audit-items";
import { fileOfAddress, maskedAddress } from "@/lib/contract/assets/download-task";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type KnownJobState } from "@/lib/contract/jobs/states";
import { type Access } from "../connections/access";
import { composition } from "../composition";
import { passOn } from "../answers/pass-on";
import { pageOf } from "../ledger/list-page";
import { toBrowser } from "../answers/to-browser";
import { type CallInput } from "../upstream/outgoing";

export type ActedOn = ThingsCount & { things: AuditThing[] };

/** What clearing removes. */
const cleared: Readonly<Partial<Record<string, KnownJobState[]>>> = {
  [operations.manageQueue.name]: ["pending"],
  [operations.manageHistory.name]: ["completed", "failed", "cancelled"],
};
/** The act itself waits for it. */
const LOOK = { exchangeMs: 5000, attempts: 1 };

export function actedOn(ids: readonly string[], access: Access): AuditThing[] {
  const { seenNames } = composition();
  const things = ids.map((id) => ({ id, name: seenNames.find(access.connection.id, id) }));
  return toBrowser(things, access);
}

export async function askedOf(operation: Operation, access: Access, input: CallInput): Promise<ActedOn> {
  const status = cleared[operation.name];
  if (status && objectOf(input.json)?.clear === true) return toBeCleared(status, access, input.signal);
  const address = textOf(objectOf(input.json)?.source_url);
  return { things: address === undefined ? actedOn(idsAsked(input), access) : [toBrowser(downloaded(maskedAddress(address)), access)] };
}

/** The service's own word on what it cleared goes before what was listed; else it tells what it made of what had no id yet. */
export function actedOnAfter(asked: ActedOn, answer: unknown, access: Access): ActedOn {
  const told = idsTold(answer);
  const isTold = told.length > 0 && (asked.things.length === 0 || asked.count !== undefined);
  return isTold ? { things: toldThings(asked.things, told, access), count: told.length } : asked;
}

/** Not all of many are written down: what was listed goes first, then what has a name. */
function toldThings(listed: readonly AuditThing[], told: readonly string[], access: Access): AuditThing[] {
  const { seenNames } = composition();
  const isTold = new Set(told);
  const both = listed.filter(({ id }) => isTold.has(id));
  for (const { id } of both) isTold.delete(id);
  const isNamed = (id: string) => seenNames.find(access.connection.id, id) !== undefined;
  const [named, others] = [[...isTold].filter(isNamed), [...isTold].filter((id) => !isNamed(id))];
  return [...both, ...actedOn([...named, ...others].slice(0, MOST_THINGS), access)].slice(0, MOST_THINGS);
}

export function downloaded(source: string, fileName: string | null = null): AuditThing {
  return { id: source, name: fileName || fileOfAddress(source) };
}

/** The newest, as lists name them. An act is not refused because they cannot be listed. */
async function toBeCleared(status: KnownJobState[], access: Access, signal: AbortSignal | undefined): Promise<ActedOn> {
  const query = { status, sort_by: "create_time", sort_order: "desc", offset: 0, limit: MOST_THINGS };
  const listed = await access.upstream.call(operations.listJobs, { query, signal, limits: LOOK });
  if (!listed.ok) return { things: [] };
  const answer = await passOn(operations.listJobs, access, listed.value);
  const { jobs, pagination } = answer;
  const { isLast, isCut, end } = pageOf(answer, 0);
  return {
    things: actedOn(
      jobs.map(({ id }) => id),
      access,
    ),
    count: pagination.total ?? end,
    isAtLeast: pagination.total === undefined && (isCut || (!isLast && (pagination.has_more === true || end >= MOST_THINGS))),
  };
}
