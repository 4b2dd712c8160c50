// An exported app creates the same app on another console, including its cover. Other files are refused.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { openFiles } from "@/tests/support/open-files";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { createAppHarness, createPicture, createPngFile, definition } from "./app-harness";

const apps = await createAppHarness();

async function getBytes(path: string) {
  const response = await apps.harness.request(path, { as: "operator" });
  return { status: response.status, type: response.headers.get("content-type"), data: Buffer.from(await response.arrayBuffer()) };
}
const headers = { "content-type": "application/json" };
const importApp = (options: { json?: unknown; body?: string }) =>
  apps.requestJson("/api/apps/import?connection=embedded", { as: "operator", method: "POST", headers, ...options });

test("keeps exact numbers and resets access when an app is exported and imported", async () => {
  const graph = { ...definition.graph, "4": { class_type: "Seeded", inputs: { seed: 1 } } };
  const json = JSON.stringify({ definition: { ...definition, graph }, access: { kind: "team" } });
  const body = json.replace('"seed":1', '"seed":18446744073709551615');
  const response = await apps.requestJson("/api/apps?connection=embedded", { as: "operator", method: "POST", body, headers });
  const file = await (await apps.harness.request(`/api/apps/${response.body.app.id}/export`, { as: "viewer" })).text();
  expect(file).toContain("18446744073709551615");
  const importResponse = await importApp({ body: file });
  expect(importResponse.body.app).toMatchObject({ title: "Invert", access: "me", version: 1 });
  const reexportedFile = await (await apps.harness.request(`/api/apps/${importResponse.body.app.id}/export`, { as: "operator" })).text();
  expect(reexportedFile).toBe(file);
});

test("imports an exported app's cover as a new asset", async () => {
  const asset = await apps.post("/api/assets?connection=embedded", { file: await createPngFile(64, "cover.png") }, { as: "operator" });
  const app = await apps.make({ definition: { ...definition, cover: asset.body.id } });
  const { body: file } = await apps.requestJson(`/api/apps/${app.id}/export`, { as: "viewer" });
  expect(file.definition).not.toHaveProperty("cover");
  const importResponse = await importApp({ json: file });
  expect(importResponse.body.app).toMatchObject({ title: "Invert", hasCover: true, version: 1 });
  const [first, second] = await Promise.all([app.id, importResponse.body.app.id].map((id) => getBytes(`/api/apps/${id}/cover`)));
  expect([first?.status, second?.status, second?.type]).toEqual([200, 200, "image/webp"]);
  expect((await sharp(second?.data).stats()).dominant).toEqual((await sharp(first?.data).stats()).dominant);
  const importedDefinition = (await apps.requestJson(`/api/apps/${importResponse.body.app.id}/workflow`, { as: "operator" })).body;
  expect(importedDefinition.cover).not.toBe(asset.body.id);
  // A cover of an unsupported image type is rejected.
  expect((await importApp({ json: { ...file, cover: "iVBORw0KGgo=" } })).body.details).toEqual({ reason: "damaged" });
  // A reference to a deleted cover is left out.
  const appWithoutCover = await apps.make({ definition: { ...definition, cover: "0191c0de-0000-7000-8000-000000000009" } });
  expect((await apps.requestJson(`/api/apps/${appWithoutCover.id}/export`, { as: "operator" })).body).not.toHaveProperty("cover");
});

test("rejects an app file that is invalid, hostile or contains a key", async () => {
  const createFile = (changes: object) => ({ format: "lightdesk-app", formatVersion: 1, definition: { ...definition, ...changes } });
  const createKeyGraph = (api_key: string) => ({ ...definition.graph, "9": { class_type: "Partner", inputs: { api_key } } });
  const key = "sk-abcdefghijklmnopqrstuvwx";
  const keyInput = { name: "key", node: "9", input: "api_key", label: "Key", control: { kind: "text" } };
  const control = { kind: "number", min: 5, max: 4 };
  const stepsInput = { name: "steps", node: "3", input: "steps", label: "Steps", control };
  const invalidFiles: [unknown, number][] = [
    [createFile({ graph: createKeyGraph(""), inputs: [{ ...keyInput, default: key }] }), 400],
    [createFile({ graph: createKeyGraph(""), inputs: [{ ...keyInput, example: key }] }), 400],
    [createFile({ inputs: [stepsInput] }), 400],
    [createFile({ inputs: [{ ...stepsInput, control: { ...control, kind: "seed" } }] }), 400],
    [{ ...createFile({}), format: "other" }, 400],
    [createFile({ inputs: Array.from({ length: 200 }, () => definition.inputs?.[0]) }), 400],
    [createFile({ graph: {} }), 400],
    [createFile({ title: "\u0000\u202e" }), 400],
    [createFile({ outputs: [{ node: "__proto__", label: "x" }] }), 400],
    [createFile({ graph: createKeyGraph(key) }), 422],
  ];
  for (const [json, status] of invalidFiles) {
    const response = await importApp({ json });
    expect([json, response.status]).toEqual([json, status]);
    expect(response.body.message.length).toBeGreaterThan(10);
    expect(JSON.stringify(response.body)).not.toContain("sk-abcdefgh");
  }
});

test.each([
  ["workflow", definition.graph],
  ["workflow", { nodes: [], links: [] }],
  ["other", []],
  ["otherVersion", { format: "lightdesk-app", formatVersion: 2, definition }],
])("returns the reason when a file is not an app: %s", async (reason, json) => {
  const { status, body } = await importApp({ json });
  expect([status, body.details]).toEqual([400, { reason }]);
  expect(body.message).toMatch(/^This (file|app) [^:]*\.$/);
});

test("serves every operation of an app's OpenAPI document to an app runner", async () => {
  const app = await apps.make();
  const { body: document } = await apps.requestJson(`/api/apps/${app.id}/openapi`, { as: "runner" });
  const startResponse = await apps.run(app, { picture: await createPngFile(9) });
  await apps.ended(app, startResponse.body.run.id);
  const statuses: Record<string, number> = {};
  for (const [path, methods] of Object.entries<Record<string, { operationId: string; responses: object }>>(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const operationUrl = path.replace("{run}", startResponse.body.run.id).replace("{number}", "1");
      const body = new FormData();
      body.set(path.endsWith("/files") ? "file" : "picture", await createPngFile(10));
      const init = { method: method.toUpperCase(), ...("requestBody" in operation && { body }) };
      const response = await apps.harness.request(operationUrl, { as: "runner", ...init });
      await response.arrayBuffer();
      statuses[operation.operationId] = response.status;
      expect(Object.keys(operation.responses)).toContain(String(response.status));
    }
  expect(statuses).toEqual({ runApp: 202, listAppRuns: 200, readAppRun: 200, cancelAppRun: 200, viewAppResult: 200, addAppFile: 201 });
});

test("accepts a file without a name", async () => {
  const app = await apps.make();
  const formStart = '--b\r\nContent-Disposition: form-data; name="picture"\r\nContent-Type: application/octet-stream\r\n\r\n';
  const body = new Uint8Array(Buffer.concat([Buffer.from(formStart), await createPicture(), Buffer.from("\r\n--b--\r\n")]));
  const formHeaders = { "content-type": "multipart/form-data; boundary=b" };
  const startResponse = await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers: formHeaders });
  expect(startResponse.status).toBe(202);
  expect(await apps.ended(app, startResponse.body.run.id)).toMatchObject({ state: "completed" });
});

test("accepts a file whose stored record has no upload time", async () => {
  const app = await apps.make();
  const upload = await apps.run(app, { picture: await createPngFile(21) });
  const name = String((await apps.ended(app, upload.body.run.id)).inputs.picture);
  const { store } = apps.harness.console;
  const { memberId } = apps.harness.getViewer("runner");
  await store.appFiles.addFile(app.id, memberId, { name, ownName: "", bytes: 1, pixels: 1 }, 0);
  await apps.run(app, { picture: await createPngFile(22) });
  expect(await store.appFiles.findFile("embedded", memberId, name)).toMatchObject({ name });
});

// Each of these tests replaces the console.
test("times out a stalled form and discards it", async () => {
  const slowApps = await createAppHarness({ settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });
  const { folder } = slowApps.harness;
  const app = await slowApps.make();
  const formStart = '--b\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\nthe beginning';
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(formStart)) });
  const formHeaders = { "content-type": "multipart/form-data; boundary=b" };
  const response = await slowApps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers: formHeaders });
  expect(response).toMatchObject({ status: 408, body: { code: "REQUEST_TIMEOUT" } });
  expect(await readdir(join(folder, "forms"))).toEqual([]);
  // A removed file that is still open takes up disk space.
  const isOpen = async () => (await openFiles()).some(({ path }) => path.startsWith(`${folder}/forms`));
  await until("the form's files are closed", async () => !(await isOpen()));
});

test("keeps an uploaded file while a run or preset uses it", async () => {
  let now = Date.UTC(2026, 0, 1);
  const DAY_MS = 24 * 60 * 60_000;
  const clockedApps = await createAppHarness({ now: () => now });
  const app = await clockedApps.make();
  // A session would expire before then.
  const token = (await createAccessToken(clockedApps.harness, "runner")).headers;
  const asToken = { as: undefined, headers: token };
  const uploadFile = async (size: number): Promise<string> =>
    (await clockedApps.post(`/api/apps/${app.id}/files`, { file: await createPngFile(size) }, asToken)).body.name;
  const getStatus = async (name: string) => {
    const response = await clockedApps.harness.request(`/api/apps/${app.id}/files?name=${encodeURIComponent(name)}`, asToken);
    await response.body?.cancel();
    return response.status;
  };
  const name = await uploadFile(8);
  const presetName = await uploadFile(7);
  const { memberId } = clockedApps.harness.getViewer("runner");
  const preset = { memberId, name: "Mine", inputs: { picture: presetName }, isTeam: false };
  await clockedApps.harness.console.store.appFiles.addPreset(app.id, preset);
  now += 80 * DAY_MS;
  const startResponse = await clockedApps.start(app, { picture: name }, asToken);
  expect(startResponse.status).toBe(202);
  await clockedApps.ended(app, startResponse.body.run.id, asToken);
  now += 80 * DAY_MS;
  await uploadFile(9);
  expect(await getStatus(name)).toBe(200);
  now += 20 * DAY_MS;
  await uploadFile(10);
  expect(await getStatus(name)).toBe(404);
  expect(await getStatus(presetName)).toBe(200);
});

test("removes a killed console's form data at the next start", async () => {
  const { folder, console } = (await createAppHarness()).harness;
  await mkdir(join(folder, "forms", "form-left"), { recursive: true });
  await writeFile(join(folder, "forms", "form-left", "a"), "x");
  await console.stop();
  const restarted = startComposition({ env: console.env });
  await restarted.ready;
  expect(await readdir(folder)).not.toContain("forms");
  await restarted.stop();
});
