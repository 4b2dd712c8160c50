// Removes or restricts a member during a request, which must then stop using the former rights. Covers every route with a body and
// each action with several steps.
import { beforeEach, describe, expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { readZip } from "@/tests/support/read-zip";
import { loadRoutes } from "@/tests/support/routes";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";

const ID = "00000000-0000-4000-8000-000000000000";
/** Called before the service responds. */
let beforeRespond: () => Promise<void> = () => Promise.resolve();

const harness = await createHarness();
const service = await openTestServer(async ({ url }, response) => {
  await beforeRespond();
  if (url.startsWith("/api/jobs?"))
    return sendJsonResponse(response, {
      jobs: [{ id: `job-${service.requests.length}`, status: "in_progress", create_time: 1 }],
      pagination: { has_more: true },
    });
  if (url.endsWith("/content")) return response.writeHead(200).end("bytes");
  sendJsonResponse(response, {
    id: url.split("/").pop(),
    name: "a.png",
    tags: [],
    status: "active",
    size: 1,
    created_at: "2026-01-01T00:00:00Z",
  });
});
const connection = await harness.connect(service.url, "a-key-of-the-team");

/** Excludes an earlier test's late upload and the job index's reads of single jobs. */
const listServiceCalls = () => service.requests.filter(({ url }) => !/^\/api\/(userdata|upload)|^\/api\/jobs\/[^/]+$/.test(url));
/** The job index may read its list at the same time. */
const listAssetCalls = () => listServiceCalls().filter(({ url }) => !url.startsWith("/api/jobs?"));

let newMember: { id: string; cookie: string };
let count = 0;
beforeEach(async () => {
  beforeRespond = () => Promise.resolve();
  count += 1;
  const passwordHash = "x";
  const member = await harness.console.store.members.create({
    name: "Late",
    email: `late-${count}@desk.test`,
    role: "admin",
    passwordHash,
    createdAt: 1,
  });
  if (!member) throw new Error("no member");
  newMember = { id: member.id, cookie: await harness.mintCookie({ sub: member.id, version: member.sessionVersion }) };
  service.requests.length = 0;
});

const accessChanges = {
  suspended: () => harness.request(`/api/console/members/${newMember.id}`, { as: "owner", method: "PUT", json: { disabled: true } }),
  removed: () => harness.request(`/api/console/members/${newMember.id}`, { as: "owner", method: "DELETE" }),
  lowered: () => harness.request(`/api/console/members/${newMember.id}`, { as: "owner", method: "PUT", json: { role: "viewer" } }),
};
async function applyChange(change: keyof typeof accessChanges) {
  const response = await accessChanges[change]();
  expect(response.ok).toBe(true);
}

const bodies: Readonly<Record<string, unknown>> = {
  submitPrompt: { prompt: { "1": { class_type: "A", inputs: {} } } },
  manageQueue: { clear: true },
  manageHistory: { clear: true },
  addTags: { tags: ["a"] },
  removeTags: { tags: ["a"] },
  createAssetFromHash: { hash: "blake3:aa", tags: ["a"] },
  downloadAsset: { source_url: "https://huggingface.co/a" },
  cancelJobs: { job_ids: [ID] },
  stopJobs: { ids: [ID] },
  exportJobs: { format: "json", ids: [ID] },
  updateAsset: { name: "a" },
  chooseArchive: { query: "" },
  createShare: { assets: [ID], expiresInMs: 60_000 },
  inviteMember: { email: "new@desk.test", role: "viewer" },
  changeMember: { role: "admin" },
  changeConnection: { name: "Taken" },
  changeAccount: { name: "Taken late" },
};
const routes = (await loadRoutes()).filter(
  ({ method, guard }) => guard && guard.role !== "public" && ["POST", "PUT", "PATCH"].includes(method),
);

describe.each(["removed", "lowered", "suspended"] as const)("a member who is %s while the body is being sent", (change) => {
  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    "%s",
    async (_label, { handler, guard, path, file }) => {
      const isMultipart = path.startsWith("/api/upload") || path === "/api/assets";
      const body = isMultipart
        ? '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\na\r\n--x--\r\n'
        : JSON.stringify(
            guard?.action === "createConnection"
              ? { name: "Made late", baseUrl: service.url, key: "another-key", keep: true }
              : (bodies[guard?.action ?? ""] ?? {}),
          );
      const isMember = path.startsWith("/api/console/members/0");
      const value = path.startsWith("/api/console/connections/") ? connection : isMember ? harness.getViewer("viewer").memberId : ID;
      const { store } = harness.console;
      const readRows = async () =>
        JSON.stringify([
          // The owner's last use is written once a minute.
          (await store.members.list()).filter(({ id }) => id !== newMember.id).map(({ seenAt: _, ...member }) => member),
          await store.connections.listFor(newMember.id),
          await store.connections.listFor(harness.getViewer("owner").memberId),
        ]);
      const before = await readRows();
      let hasRequest = false;
      const stream = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (hasRequest) return controller.close();
            hasRequest = true;
            controller.enqueue(Buffer.from(body.slice(0, -1)));
            await applyChange(change);
            controller.enqueue(Buffer.from(body.slice(-1)));
          },
        },
        { highWaterMark: 0 },
      );
      const segments = path.split("/").slice(1);
      const folders = file.slice(file.indexOf("/api/") + 1).split("/");
      const params = Object.fromEntries(
        folders.flatMap((folder, index): [string, string | string[]][] => {
          const param = folder.match(/^\[(?:\.\.\.)?(\w+)\]$/)?.[1];
          return param === undefined ? [] : [[param, folder.startsWith("[...") ? segments.slice(index) : value]];
        }),
      );
      const headers = {
        host: "desk.test",
        origin: "http://desk.test",
        cookie: newMember.cookie,
        "content-type": isMultipart ? "multipart/form-data; boundary=x" : "application/json",
        "content-length": String(body.length),
      };
      const init = { method: _label.split(" ")[0], headers, body: stream, duplex: "half" };
      const response = await handler(new Request(`http://desk.test${path}?connection=${connection}`, init), {
        params: Promise.resolve(params),
      });
      const text = await response.text();
      // Routes without a body have already acted; all others respond as to an unauthenticated client.
      if (hasRequest) expect([response.status, text.includes("UNAUTHORIZED")], text).toEqual([401, true]);
      if (hasRequest) expect(await readRows()).toBe(before);
      expect([undefined, "Late"]).toContain((await store.members.get(newMember.id))?.name);
      if (hasRequest)
        expect(service.requests.filter(({ method, body: requestBody }) => method !== "GET" && requestBody.toString() === body)).toEqual([]);
    },
  );
});

describe.each(["removed", "lowered", "suspended"] as const)("a member who is %s during an action with many steps", (change) => {
  const changeAfterCalls = (count: number, listCalls = listServiceCalls) => {
    beforeRespond = async () => {
      if (listCalls().length === count) await applyChange(change);
    };
  };

  test("doesn't stop another job", async () => {
    changeAfterCalls(1);
    const response = await harness.request(`/api/console/jobs/stop?connection=${connection}`, {
      cookie: newMember.cookie,
      method: "POST",
      json: { ids: ["job-1", "job-2"] },
    });
    expect([401, 403]).toContain(response.status);
    expect(listServiceCalls().filter(({ method }) => method === "POST")).toEqual([]);
  });

  test("doesn't get another page of an export", async () => {
    changeAfterCalls(2);
    const response = await harness.request(`/api/console/jobs/export?connection=${connection}&format=json`, { cookie: newMember.cookie });
    const text = await response.text();
    expect(text).toMatch(/"complete":false,"failure":\{"code":"(UNAUTHORIZED|ROLE_TOO_LOW)"/);
    expect(listServiceCalls().filter(({ url }) => url.startsWith("/api/jobs?")).length).toBeLessThanOrEqual(2);
  });

  test("doesn't get another file of an archive", async () => {
    const response = await harness.request(`/api/console/archive?connection=${connection}`, {
      cookie: newMember.cookie,
      method: "POST",
      json: { ids: ["a", "b", "c"] },
    });
    const { id } = (await response.json()) as { id: string };
    service.requests.length = 0;
    changeAfterCalls(2, listAssetCalls);
    const file = await harness.request(`/api/console/archive/${id}`, { cookie: newMember.cookie });
    const names = [...readZip(Buffer.from(await file.arrayBuffer())).keys()];
    expect(names).toEqual(["a.png", "NOT INCLUDED.txt"]);
    expect(listAssetCalls()).toHaveLength(2);
  });

  test("doesn't create a connection after the service's delayed key check", async () => {
    changeAfterCalls(1);
    const response = await harness.request("/api/console/connections", {
      cookie: newMember.cookie,
      method: "POST",
      json: { name: "Made late", baseUrl: service.url, key: "another-key", keep: true, shared: true },
    });
    expect([401, 403]).toContain(response.status);
    const { store } = harness.console;
    const names = (await store.connections.listFor(harness.getViewer("owner").memberId)).map(({ name }) => name);
    expect(names).not.toContain("Made late");
  });
});

describe.each<[string, (id: string) => Promise<unknown>, number]>([
  ["revoked", (id) => harness.request(`/api/console/tokens/${id}`, { as: "owner", method: "DELETE" }), 401],
  ["of a member who was suspended", () => applyChange("suspended"), 401],
  ["of a member whose role was lowered", () => applyChange("lowered"), 403],
])("a token that is %s during a request", (_label, revoke, status) => {
  const createToken = () =>
    createAccessToken(harness, "admin", { memberId: newMember.id, connectionId: connection, connectionIds: [connection] });

  test.each([
    ["/api/prompt", "application/json", JSON.stringify(bodies.submitPrompt)],
    [
      "/api/upload/image",
      "multipart/form-data; boundary=x",
      '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\na\r\n--x--\r\n',
    ],
  ])("forwards nothing after the member lost access, to %s", async (path, type, text) => {
    const { id, headers } = await createToken();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          controller.enqueue(Buffer.from(text.slice(0, -1)));
          await revoke(id);
          controller.enqueue(Buffer.from(text.slice(-1)));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const response = await harness.request(path, {
      method: "POST",
      headers: { ...headers, "content-type": type, "content-length": String(text.length) },
      body,
    });
    expect(response.status).toBe(status);
    expect(service.requests.filter(({ method, body: requestBody }) => method !== "GET" && requestBody.toString() === text)).toEqual([]);
  });

  test("doesn't get another file of an archive or stop another job", async () => {
    const { id, headers } = await createToken();
    const response = await harness.request("/api/console/archive", { headers, method: "POST", json: { ids: ["a", "b", "c"] } });
    const archive = ((await response.json()) as { id: string }).id;
    service.requests.length = 0;
    beforeRespond = async () => {
      if (listAssetCalls().length === 2) await revoke(id);
    };
    const file = await harness.request(`/api/console/archive/${archive}`, { headers });
    const names = [...readZip(Buffer.from(await file.arrayBuffer())).keys()];
    expect(names).toContain("NOT INCLUDED.txt");
    expect(listAssetCalls()).toHaveLength(2);
    expect((await harness.request("/api/console/jobs/stop", { headers, method: "POST", json: { ids: ["job-1"] } })).status).toBe(status);
    expect(listServiceCalls().filter(({ method }) => method === "POST")).toEqual([]);
  });
});
