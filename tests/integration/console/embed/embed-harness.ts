// A console with a host page, and tickets signed by that host's server.
import { SignJWT } from "jose";
import { type EmbedHostSaved } from "@/lib/contract/embed/embedding";
import { type Role } from "@/lib/contract/members/roles";
import { isEmbedded } from "@/lib/server/upstream/send";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { createHarness, type HarnessRequest } from "@/tests/support/harness";
import { addMember } from "../people/people-harness";

export const ORIGIN = "https://app.example.com";
export const SLOT = "abcdefgh1234";

type ClaimChanges = Record<string, unknown> & { secret?: string };

type TicketRequest = { slot?: string; id?: string; origin?: string; cookie?: string };

export async function createEmbedHarness(settings: Record<string, string> = {}) {
  let clockMs = Date.now();
  const harness = await createHarness({ now: () => clockMs, settings });
  const request = (path: string, options: HarnessRequest = {}) => harness.request(path, options);

  async function addHost(change: Record<string, unknown> = {}, cookie?: string): Promise<Required<EmbedHostSaved>> {
    const defaults = { name: "Portal", origins: [ORIGIN], connection: null, role: "operator", pages: ["jobs", "assets"], guests: false };
    const response = await request("/api/console/embedding", {
      ...(cookie === undefined ? { as: "owner" } : { cookie }),
      method: "POST",
      json: { ...defaults, jwksUrl: null, ...change },
    });
    if (response.status !== 201) throw new Error(await response.text());
    return response.json();
  }
  const { host, secret } = await addHost();
  let count = 0;

  function createClaims({ secret: _secret, ...changes }: ClaimChanges = {}) {
    const iat = Math.floor(clockMs / 1000);
    const jti = `ticket-${(count += 1)}-of-the-test`;
    const defaults = { iss: ORIGIN, sub: "operator@desk.test", jti, iat, exp: iat + 60, aud: host.audience };
    return Object.fromEntries(Object.entries({ ...defaults, ...changes }).filter(([, value]) => value !== undefined));
  }
  const createTicket = (changes: ClaimChanges = {}) =>
    new SignJWT(createClaims(changes)).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(changes.secret ?? secret));

  /** `cookie` contains the cookies that the browser stored for this path, by default only the probe. */
  async function sendTicket(signedTicket: string, { slot = SLOT, id = host.id, origin = ORIGIN, cookie }: TicketRequest = {}) {
    const headers = { [EMBED_PATH_HEADER]: `/embed/${id}/${slot}` };
    return request("/api/embed/tickets", {
      method: "POST",
      json: { ticket: signedTicket, origin },
      cookie: cookie ?? `__Host-lightdesk.probe.${slot}=1`,
      headers,
    });
  }
  async function startSession(changes: ClaimChanges = {}, { slot = SLOT, id = host.id }: Pick<TicketRequest, "slot" | "id"> = {}) {
    const response = await sendTicket(await createTicket(changes), { slot, id });
    const cookie = response.headers.getSetCookie().find((value) => value.includes("lightdesk.embed"));
    if (response.status !== 201 || cookie === undefined) throw new Error(await response.text());
    return { cookie: cookie.split(";")[0] ?? "", headers: { [EMBED_PATH_HEADER]: `/embed/${id}/${slot}` } };
  }
  /** Starts a session of another host page. */
  const startHostSession = (hostPage: Required<EmbedHostSaved>, changes: ClaimChanges = {}) =>
    startSession({ secret: hostPage.secret, aud: hostPage.host.audience, ...changes }, { id: hostPage.host.id });
  return {
    harness,
    host,
    secret,
    addHost,
    addMember: (name: string, role: Role) => addMember(harness, name, role),
    request,
    claims: createClaims,
    ticket: createTicket,
    bring: sendTicket,
    enter: startSession,
    enterHost: startHostSession,
    isOpen: async (session: HarnessRequest) =>
      (await request("/api/embed/session", { ...session, method: "PATCH", json: {} })).status === 204,
    getRefusalReason: async () => (await harness.console.store.embedHosts.get(host.id))?.refused?.why,
    setRole: (role: Role, newRole: Exclude<Role, "owner">) =>
      request(`/api/console/members/${harness.getViewer(role).memberId}`, { as: "owner", method: "PUT", json: { role: newRole } }),
    /** Returns the id of the built-in service's connection. */
    async getEmbeddedConnectionId(): Promise<string> {
      const all = await harness.console.store.connections.listFor(harness.getViewer("operator").memberId);
      return all.find(({ baseUrl }) => isEmbedded(baseUrl))?.id ?? "";
    },
    advanceClock: (ms: number) => void (clockMs += ms),
  };
}
