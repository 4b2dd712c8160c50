// Adds members, invitations and tokens to a console.
import { type Role } from "@/lib/contract/members/roles";
import { type NewTokenView } from "@/lib/contract/members/tokens";
import { type Harness, type HarnessRequest } from "@/tests/support/harness";

export const DAY_MS = 24 * 60 * 60_000;
export type AddedMember = { id: string; email: string; cookie: string };

/** Adds a member with a session and the owner's password. */
export async function addMember(harness: Harness, name: string, role: Role): Promise<AddedMember> {
  const { store, now } = harness.console;
  const email = `${name.replaceAll(" ", ".").toLowerCase()}@desk.test`;
  const passwordHash = (await store.members.getByEmail("owner@desk.test"))?.passwordHash;
  const member = await store.members.create({ name, email, role, passwordHash, createdAt: now() });
  if (!member) throw new Error(`no member ${name}`);
  return { id: member.id, email, cookie: await harness.mintCookie({ sub: member.id, version: member.sessionVersion }) };
}

/** Returns the invitation's link and its token. */
export async function invite(harness: Harness, email: string, role: Role, options: HarnessRequest = { as: "admin" }) {
  const response = await harness.request("/api/console/members/invitations", { method: "POST", json: { email, role }, ...options });
  const { url }: { url: string } = await response.json();
  return { url, token: new URL(url).searchParams.get("token") ?? "" };
}

/** Accepts an invitation or a reset link. */
export async function accept(harness: Harness, token: string, password = "a good long password") {
  const json = { token, name: "New", password };
  const response = await harness.request("/api/console/members/invitations/accept", { method: "POST", json });
  return { status: response.status, body: await response.json() };
}

export async function createToken(harness: Harness, as: Role, change: object = {}) {
  const body = { name: "render farm", role: "operator", connection: "embedded", operations: "all", days: 30 };
  const response = await harness.request("/api/console/tokens", { as, method: "POST", json: { ...body, ...change } });
  return { status: response.status, body: (await response.json()) as NewTokenView & { code?: string; message?: string } };
}
