// A console whose members create and use tokens.
import { type NewTokenView } from "@/lib/contract/members/tokens";
import { createHarness } from "@/tests/support/harness";

export const DAY_MS = 24 * 60 * 60_000;
type Role = "viewer" | "operator" | "admin" | "owner";

export async function createTokenHarness() {
  let now = 1_800_000_000_000;
  const harness = await createHarness({ now: () => now });
  const body = { name: "render farm", role: "operator", connection: "embedded", operations: "all", days: 30 };
  return {
    harness,
    now: () => now,
    advanceClock: (ms: number) => void (now += ms),
    async createToken(as: Role, change: object = {}) {
      const response = await harness.request("/api/console/tokens", { as, method: "POST", json: { ...body, ...change } });
      return { status: response.status, body: (await response.json()) as NewTokenView & { code?: string; message?: string } };
    },
    async sendRequest(headers: Record<string, string>, path = "/api/user", method = "GET") {
      const response = await harness.request(path, { method, headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
    },
    revoke: (as: Role, id: string) => harness.request(`/api/console/tokens/${id}`, { as, method: "DELETE" }),
  };
}
