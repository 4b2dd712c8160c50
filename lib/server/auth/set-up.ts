// The first run: the owner, the embedded service's user `team` with a key of its own, and the shared connection to it.
// Guarantees: of many who try at once one becomes the owner; the key is sealed before anything else can see it.
// If the process dies after the owner was made, `ensureDefaultConnection` finishes the rest at the next start.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition } from "../composition";
import { storeApiKey } from "../keys/api-keys";
import { type Member } from "../store/members";
import { EMBEDDED_BASE_URL } from "../upstream/send";
import { hashPassword } from "./passwords";

export const TEAM_USER = "team";
const EMBEDDED_NAME = "Embedded service";

export async function setUp(
  console: Composition,
  given: { token: string; name: string; email: string; password: string },
): Promise<Result<Member, Failure>> {
  const { store, now, log } = console;
  if (!(await store.setUpToken.has(given.token))) {
    return failed({ code: "UNAUTHORIZED", message: "This link has been used or is from an earlier start.", status: 401 });
  }
  const passwordHash = await hashPassword(given.password);
  const owner = await store.members.createFirstOwner({ name: given.name, email: given.email, passwordHash, createdAt: now() });
  if (!owner) return failed({ code: "CONFLICT", message: "There is an owner already.", status: 409 });
  await store.setUpToken.clear();
  await makeDefaultConnection(console);
  log.info({ memberId: owner.id }, "the owner was made");
  return ok(owner);
}

async function makeDefaultConnection({ store, ring, service, now }: Composition): Promise<void> {
  const connection = await store.connections.create({ name: EMBEDDED_NAME, baseUrl: EMBEDDED_BASE_URL, createdAt: now() });
  const { key } = service().keys.createKey(TEAM_USER);
  await storeApiKey(store.keys, ring, { connectionId: connection.id, apiKey: key, now: now() });
  await store.connections.setStatus(connection.id, "active");
}
