// Gives members the right to see the jobs of another member's own connection, and takes it back.
// Guarantees: admins give it, but for a connection of the team's owner only the owner; admins, the connection's member and the member who
// has it can take it back. Name and address of another member's connection are not shown here. The key is not touched.

import "server-only";
import { type PersonalConnectionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { type PersonalConnection } from "../store/jobs/job-viewers";
import { noConnection } from "./access";

/** All personal connections but the viewer's own. */
export async function listPersonalConnections(viewer: Viewer): Promise<Result<PersonalConnectionView[], Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminOnly);
  const { jobViewers } = composition().store;
  const inScope = (await jobViewers.listPersonal()).filter((one) => one.ownerId !== viewer.memberId && isInScope(viewer, one.id));
  const viewers = await jobViewers.viewersOf(inScope.map(({ id }) => id));
  return ok(inScope.map((one) => ({ ...one, seenBy: viewers.get(one.id) ?? [] })));
}

export async function giveJobsView(viewer: Viewer, connectionId: string, memberId: string): Promise<Result<undefined, Failure>> {
  const { store, now } = composition();
  const connection = await findPersonal(viewer, connectionId);
  if (!connection) return failed(noConnection);
  const owner = await store.members.get(connection.ownerId);
  if (!hasRole(viewer.role, "admin") || !owner || !hasRole(viewer.role, owner.role)) return failed(tooLow);
  const member = await store.members.get(memberId);
  if (!member) return failed(noSuchMember);
  if (memberId === connection.ownerId) return failed(ownAlready);
  await store.jobViewers.give(connectionId, memberId, { givenBy: viewer.memberId, now: now() });
  return ok(undefined);
}

export async function takeJobsView(viewer: Viewer, connectionId: string, memberId: string): Promise<Result<undefined, Failure>> {
  const { store } = composition();
  const connection = await findPersonal(viewer, connectionId);
  const mayTake = hasRole(viewer.role, "admin") || viewer.memberId === connection?.ownerId || viewer.memberId === memberId;
  // For all others it does not exist.
  if (!connection || !mayTake) return failed(noConnection);
  return (await store.jobViewers.take(connectionId, memberId)) ? ok(undefined) : failed(noSuchMember);
}

async function findPersonal(viewer: Viewer, id: string): Promise<PersonalConnection | undefined> {
  const all = await composition().store.jobViewers.listPersonal();
  return all.find((one) => one.id === id && isInScope(viewer, id));
}

function isInScope({ scope }: Viewer, id: string): boolean {
  return scope.connections?.includes(id) !== false;
}

const adminOnly: Failure = { code: "ROLE_TOO_LOW", message: "This needs the role admin.", status: 403 };
const tooLow: Failure = {
  code: "ROLE_TOO_LOW",
  message: "Only the owner decides who sees the jobs of their connection.",
  status: 403,
};
const noSuchMember: Failure = { code: "NOT_FOUND", message: "There is no such member.", status: 404 };
const ownAlready: Failure = { code: "CONFLICT", message: "This is the member's own connection.", status: 409 };
