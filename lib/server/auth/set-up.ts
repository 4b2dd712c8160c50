// The first run makes, in this order: the embedded service's user `team` with a key, the shared connection to it, and the owner.
// Guarantees: of many who try at once, one becomes the owner; the key is sealed before anything else can see it; if the process dies in
// between there is no owner yet, and the next attempt finds the connection and continues.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Composition } from "../composition-type";
import { storeApiKey } from "../keys/api-keys";
import { type Member } from "../store/people/members";
import { EMBEDDED_BASE_URL } from "../upstream/send";
import { hashPassword, judgePassword } from "./passwords";

const TEAM_USER = "team";
const DEFAULT_CONNECTION_ID = "embedded";
const EMBEDDED_NAME = "Embedded service";

export async function setUp(
  console: Composition,
  given: { token: string; name: string; email: string; password: string },
): Promise<Result<Member, Failure>> {
  const { store, now, log } = console;
  if (!(await store.setUpToken.has(given.token))) {
    return failed({ code: "UNAUTHORIZED", message: "This link has been used or is from an earlier start.", status: 401 });
  }
  const weak = await judgePassword(given.password, given.email);
  if (weak) return failed(weak);
  const passwordHash = await hashPassword(given.password);
  await ensureDefaultConnection(console);
  const owner = await store.members.createFirstOwner({ name: given.name, email: given.email, passwordHash, createdAt: now() });
  if (!owner) return failed({ code: "CONFLICT", message: "Lightdesk already has an owner.", status: 409 });
  await store.setUpToken.clear();
  log.info({ memberId: owner.id }, "the owner was made");
  return ok(owner);
}

async function ensureDefaultConnection({ store, ring, serviceKeys, now }: Composition): Promise<void> {
  // The id is fixed, so two attempts at once make one connection.
  const made = await store.connections.create({
    id: DEFAULT_CONNECTION_ID,
    name: EMBEDDED_NAME,
    baseUrl: EMBEDDED_BASE_URL,
    createdAt: now(),
  });
  if (await store.keys.getOf(made.id)) return;
  const { key: apiKey } = await serviceKeys().createKey(TEAM_USER);
  await storeApiKey(store.keys, ring, { connectionId: made.id, apiKey, now: now() });
  await store.connections.setStatus(made.id, "active");
}
