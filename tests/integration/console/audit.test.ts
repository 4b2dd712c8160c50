// Reading the audit log: by member, filtered, page by page, and as a file.
import { expect, test } from "vitest";
import { type AuditPage } from "@/lib/contract/audit/audit";
import * as messages from "@/lib/messages/en";
import { listAudit, listAuditFilterValues } from "@/lib/server/queries/audit";
import { createHarness } from "@/tests/support/harness";
import { loadRoutes } from "@/tests/support/routes";

const HOUR = 60 * 60_000;
const now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });
const { audit } = harness.console.store;
const entry = { requestId: "r", status: 200 };
const ana = { memberId: "ana", memberName: "Ana Ruiz" };
for (let index = 0; index < 120; index += 1) {
  const action = index % 2 ? "submitPrompt" : "manageQueue";
  await audit.add({ ...entry, ...ana, at: now - (120 - index) * HOUR, action, connectionId: "embedded", target: `t${index}` });
}
const gone = { memberId: "gone", memberName: '=HYPERLINK("x")' };
await audit.add({ ...entry, ...gone, at: now, action: "removeMember", status: 403, code: "ROLE_TOO_LOW", outcome: 'a, "b"' });
await audit.add({ ...entry, ...ana, memberName: "Ana R.", at: now, action: "signIn", connectionId: "of somebody else" });

async function read(query: string): Promise<AuditPage> {
  const response = await harness.request(`/api/console/audit?${query}`, { as: "admin" });
  expect(response.status).toBe(200);
  return response.json();
}

test.each(["viewer", "operator"] as const)("hides the log from a %s on every route", async (as) => {
  for (const path of ["/api/console/audit", "/api/console/audit/export"]) expect((await harness.request(path, { as })).status).toBe(403);
  const context = harness.getContext(as);
  expect(await listAudit(context, { limit: 50 })).toMatchObject({ ok: false, failure: { code: "ROLE_TOO_LOW" } });
  expect(await listAuditFilterValues(context)).toMatchObject({ ok: false, failure: { code: "ROLE_TOO_LOW" } });
});

test("returns entries newest first, each once across pages", async () => {
  const seenIds: number[] = [];
  let page = await read("limit=50");
  const member = { id: "ana", name: "Ana R." };
  expect(page.entries[0]).toMatchObject({ action: "signIn", member, connection: { id: "of somebody else" } });
  expect(page.entries[0]?.connection?.name).toBeUndefined();
  expect(page.entries[2]?.connection).toEqual({ id: "embedded", name: "Embedded service" });
  while (page.hasMore) {
    seenIds.push(...page.entries.map(({ id }) => id));
    page = await read(`limit=50&before=${seenIds.at(-1)}`);
  }
  seenIds.push(...page.entries.map(({ id }) => id));
  expect([seenIds.length, new Set(seenIds).size]).toEqual([122, 122]);
  expect(seenIds).toEqual([...seenIds].sort((first, second) => second - first));
});

test("filters by member, action, connection and time", async () => {
  const count = async (query: string) => (await read(`limit=200&${query}`)).entries.length;
  expect(await count("member=gone")).toBe(1);
  expect(await count("action=submitPrompt")).toBe(60);
  expect(await count("action=submitPrompt&member=gone")).toBe(0);
  expect(await count("on=embedded")).toBe(120);
  expect(await count("within=24")).toBe(26);
  expect(await count(`from=${now - 10 * HOUR}&to=${now - 5 * HOUR}`)).toBe(5);
  for (const query of ["limit=0", "limit=1000", "before=x", "within=0", "from=yesterday"])
    expect([query, (await harness.request(`/api/console/audit?${query}`, { as: "admin" })).status]).toEqual([query, 400]);
});

test("lists every member and action in the log, removed members by last name", async () => {
  const choices = await listAuditFilterValues(harness.getContext("owner"));
  expect(choices).toMatchObject({ ok: true, value: { actions: ["manageQueue", "removeMember", "signIn", "submitPrompt"] } });
  if (choices.ok) expect(choices.value.members.find(({ id }) => id === "ana")?.name).toBe("Ana R.");
});

test("exports all entries without spreadsheet formulas", async () => {
  const response = await harness.request("/api/console/audit/export", { as: "owner" });
  expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="audit-\d{4}-\d\d-\d\d\.csv"$/);
  const lines = (await response.text()).trimEnd().split("\r\n");
  expect(lines).toHaveLength(124);
  // The newest entry is this export.
  expect(lines[1]).toContain(",exportAudit,");
  expect(lines[3]).toContain(`"'=HYPERLINK(""x"")",gone,removeMember,,,,403,ROLE_TOO_LOW,"a, ""b""",r`);
  const exportResponse = await harness.request("/api/console/audit/export?action=removeMember", { as: "owner" });
  expect((await exportResponse.text()).trimEnd().split("\r\n")).toHaveLength(2);
});

test("has a label for every recorded action", async () => {
  const changingRoutes = (await loadRoutes()).filter(({ method }) => method !== "GET" && method !== "HEAD");
  const actions = new Set([...changingRoutes.map(({ guard }) => guard?.action ?? ""), "signIn", "signOut"]);
  expect(actions.size).toBeGreaterThan(35);
  // These two stand for groups of actions. Their individual actions are in the list.
  for (const name of ["auth", "unknown"]) actions.delete(name);
  const { does, tried } = messages.settings.audit;
  expect([...actions].filter((action) => !Object.hasOwn(does, action) || !Object.hasOwn(tried, action))).toEqual([]);
});

const signInEntry = { at: now, requestId: "r", action: "signIn", status: 200 };

test("verifies a log during writes", async () => {
  const [state] = await Promise.all([audit.verify(), audit.add(signInEntry), audit.add(signInEntry)]);
  expect(state).toHaveProperty("last");
});

test("keeps the order of parallel entries and an intact chain", async () => {
  const targets = Array.from({ length: 250 }, (_, index) => `at once ${index}`);
  await Promise.all(targets.map((target) => audit.add({ ...signInEntry, target })));
  const rows = await audit.list({}, targets.length);
  expect(rows.map(({ target }) => target).reverse()).toEqual(targets);
  expect((rows[0]?.id ?? 0) - (rows.at(-1)?.id ?? 0)).toBe(targets.length - 1);
  expect(await audit.verify()).toHaveProperty("last");
});

test("keeps other entries when the database refuses one", async () => {
  const entries = [signInEntry, { ...signInEntry, status: Number.NaN }, signInEntry];
  const results = await Promise.allSettled(entries.map((item) => audit.add(item)));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await audit.verify()).toHaveProperty("last");
});
