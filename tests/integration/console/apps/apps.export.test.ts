// An exported app creates the same app on another console, including its cover. Other files are refused.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { openFiles } from "@/tests/support/open-files";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { type AppHarness, createAppHarness, createPicture, definition } from "./app-harness";

const apps = await createAppHarness();

async function getBytes(path: string) {
  const response = await apps.harness.request(path, { as: "operator" });
  return { status: response.status, type: response.headers.get("content-type"), data: Buffer.from(await response.arrayBuffer()) };
}

test("keeps exact numbers and resets access when an app is exported and imported", async () => {
  const graph = { ...definition.graph, "4": { class_type: "Seeded", inputs: { seed: 1 } } };
  const json = JSON.stringify({ definition: { ...definition, graph }, access: { kind: "team" } }).replace(
    '"seed":1',
    '"seed":18446744073709551615',
  );
  const headers = { "content-type": "application/json" };
  const response = await apps.requestJson("/api/apps?connection=embedded", { as: "operator", method: "POST", body: json, headers });
  const file = await (await apps.harness.request(`/api/apps/${response.body.app.id}/export`, { as: "viewer" })).text();
  expect(file).toContain("18446744073709551615");
  const importResponse = await apps.requestJson("/api/apps/import?connection=embedded", {
    as: "operator",
    method: "POST",
    body: file,
    headers,
  });
  expect(importResponse.body.app).toMatchObject({ title: "Invert", access: "me", version: 1 });
  const reexportedFile = await (await apps.harness.request(`/api/apps/${importResponse.body.app.id}/export`, { as: "operator" })).text();
  expect(reexportedFile).toBe(file);
});

test("imports an exported app's cover as a new asset", async () => {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(await createPicture(64, 64))], "cover.png", { type: "image/png" }));
  const response = new Response(form);
  const type = response.headers.get("content-type") ?? "";
  const asset = await apps.requestJson("/api/assets?connection=embedded", {
    as: "operator",
    method: "POST",
    body: await response.arrayBuffer(),
    headers: { "content-type": type },
  });
  const app = await apps.make({ definition: { ...definition, cover: asset.body.id } });
  const { body: file } = await apps.requestJson(`/api/apps/${app.id}/export`, { as: "viewer" });
  expect(file.definition).not.toHaveProperty("cover");
  const importApp = (json: object) => apps.requestJson("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
  const importResponse = await importApp(file);
  expect(importResponse.body.app).toMatchObject({ title: "Invert", hasCover: true, version: 1 });
  const [first, second] = await Promise.all([app.id, importResponse.body.app.id].map((id) => getBytes(`/api/apps/${id}/cover`)));
  expect([first?.status, second?.status, second?.type]).toEqual([200, 200, "image/webp"]);
  expect((await sharp(second?.data).stats()).dominant).toEqual((await sharp(first?.data).stats()).dominant);
  const importedDefinition = (await apps.requestJson(`/api/apps/${importResponse.body.app.id}/workflow`, { as: "operator" })).body;
  expect(importedDefinition.cover).not.toBe(asset.body.id);
  // A cover of an unsupported image type is rejected.
  expect((await importApp({ ...file, cover: "iVBORw0KGgo=" })).body.details).toEqual({ reason: "damaged" });
  // A reference to a deleted cover is left out.
  const appWithoutCover = await apps.make({ definition: { ...definition, cover: "0191c0de-0000-7000-8000-000000000009" } });
  expect((await apps.requestJson(`/api/apps/${appWithoutCover.id}/export`, { as: "operator" })).body).not.toHaveProperty("cover");
});

test("rejects an app file that is invalid, hostile or contains a key", async () => {
  const validFile = { format: "lightdesk-app", formatVersion: 1, definition };
  const graphWithKey = { ...definition.graph, "9": { class_type: "Partner", inputs: { api_key: "sk-abcdefghijklmnopqrstuvwx" } } };
  const keyInput = { name: "key", node: "9", input: "api_key", label: "Key", control: { kind: "text" } };
  const graphWithEmptyKey = { ...definition.graph, "9": { class_type: "Partner", inputs: { api_key: "" } } };
  const stepsInput = { name: "steps", node: "3", input: "steps", label: "Steps", control: { kind: "number", min: 5, max: 4 } };
  const invalidFiles: [unknown, number][] = [
    [
      {
        ...validFile,
        definition: { ...definition, graph: graphWithEmptyKey, inputs: [{ ...keyInput, default: "sk-abcdefghijklmnopqrstuvwx" }] },
      },
      400,
    ],
    [
      {
        ...validFile,
        definition: { ...definition, graph: graphWithEmptyKey, inputs: [{ ...keyInput, example: "sk-abcdefghijklmnopqrstuvwx" }] },
      },
      400,
    ],
    [{ ...validFile, definition: { ...definition, inputs: [stepsInput] } }, 400],
    [{ ...validFile, definition: { ...definition, inputs: [{ ...stepsInput, control: { ...stepsInput.control, kind: "seed" } }] } }, 400],
    [{ ...validFile, format: "other" }, 400],
    [{ ...validFile, formatVersion: 2 }, 400],
    [{ ...validFile, definition: { ...definition, inputs: Array.from({ length: 200 }, () => definition.inputs?.[0]) } }, 400],
    [{ ...validFile, definition: { ...definition, graph: {} } }, 400],
    [{ ...validFile, definition: { ...definition, title: "\u0000\u202e" } }, 400],
    [{ ...validFile, definition: { ...definition, outputs: [{ node: "__proto__", label: "x" }] } }, 400],
    [{ ...validFile, definition: { ...definition, graph: graphWithKey } }, 422],
    [[], 400],
  ];
  for (const [json, status] of invalidFiles) {
    const response = await apps.requestJson("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
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
  const { status, body } = await apps.requestJson("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
  expect([status, body.details]).toEqual([400, { reason }]);
  expect(body.message).toMatch(/^This (file|app) [^:]*\.$/);
});

const createPngFile = async (size: number) =>
  new File([new Uint8Array(await createPicture(size, size))], "photo.png", { type: "image/png" });

test("serves every operation of an app's OpenAPI document to an app runner", async () => {
  const app = await apps.make();
  const { body: document } = await apps.requestJson(`/api/apps/${app.id}/openapi`, { as: "runner" });
  const startResponse = await apps.run(app, { picture: await createPngFile(9) });
  await apps.ended(app, startResponse.body.run.id);
  const statuses: Record<string, number> = {};
  for (const [path, methods] of Object.entries<Record<string, { operationId: string; responses: object }>>(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const operationUrl = path.replace("{run}", startResponse.body.run.id).replace("{number}", "1");
      const form = new FormData();
      form.set(path.endsWith("/files") ? "file" : "picture", await createPngFile(10), "p.png");
      const encodedForm = new Response(form);
      const init = "requestBody" in operation && {
        headers: { "content-type": encodedForm.headers.get("content-type") ?? "" },
        body: await encodedForm.arrayBuffer(),
      };
      const response = await apps.harness.request(operationUrl, { as: "runner", method: method.toUpperCase(), ...init });
      await response.arrayBuffer();
      statuses[operation.operationId] = response.status;
      expect(Object.keys(operation.responses)).toContain(String(response.status));
    }
  expect(statuses).toEqual({ runApp: 202, listAppRuns: 200, readAppRun: 200, cancelAppRun: 200, viewAppResult: 200, addAppFile: 201 });
});

describe("app files", () => {
  let apps: AppHarness;

  test("times out a stalled form and discards it", async () => {
    apps = await createAppHarness({ settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });
    const app = await apps.make();
    const formStart = '--b\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\nthe beginning';
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(formStart)) });
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const response = await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers });
    expect(response).toMatchObject({ status: 408, body: { code: "REQUEST_TIMEOUT" } });
    expect(await readdir(join(apps.harness.folder, "forms"))).toEqual([]);
    // A removed file that is still open takes up disk space.
    await until(
      "the form's files are closed",
      async () => !(await openFiles()).some(({ path }) => path.startsWith(`${apps.harness.folder}/forms`)),
    );
  });

  test("accepts a file without a name", async () => {
    apps = await createAppHarness();
    const app = await apps.make();
    const formStart = '--b\r\nContent-Disposition: form-data; name="picture"\r\nContent-Type: application/octet-stream\r\n\r\n';
    const body = new Uint8Array(Buffer.concat([Buffer.from(formStart), await createPicture(), Buffer.from("\r\n--b--\r\n")]));
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const startResponse = await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers });
    expect(startResponse.status).toBe(202);
    expect(await apps.ended(app, startResponse.body.run.id)).toMatchObject({ state: "completed" });
  });

  test("keeps an uploaded file as long as a run refers to it", async () => {
    let now = Date.UTC(2026, 0, 1);
    const DAY_MS = 24 * 60 * 60_000;
    apps = await createAppHarness({ now: () => now });
    const app = await apps.make();
    // A session would expire before then.
    const token = (await createAccessToken(apps.harness, "runner")).headers;
    const uploadFile = async (width: number): Promise<string> => {
      const form = new FormData();
      form.set("file", new Blob([new Uint8Array(await createPicture(width))]), `${width}.png`);
      const encoded = new Response(form);
      const headers = { ...token, "content-type": encoded.headers.get("content-type") ?? "" };
      const body = await encoded.arrayBuffer();
      return (await apps.requestJson(`/api/apps/${app.id}/files`, { method: "POST", body, headers })).body.name;
    };
    const getStatus = async (name: string) => {
      const response = await apps.harness.request(`/api/apps/${app.id}/files?name=${encodeURIComponent(name)}`, { headers: token });
      await response.body?.cancel();
      return response.status;
    };
    const name = await uploadFile(8);
    now += 80 * DAY_MS;
    const startResponse = await apps.requestJson(`/api/apps/${app.id}/runs`, {
      headers: token,
      method: "POST",
      json: { inputs: { picture: name } },
    });
    expect(startResponse.status).toBe(202);
    await apps.ended(app, startResponse.body.run.id, { headers: token });
    now += 80 * DAY_MS;
    await uploadFile(9);
    expect(await getStatus(name)).toBe(200);
    now += 20 * DAY_MS;
    await uploadFile(10);
    expect(await getStatus(name)).toBe(404);
  });

  test("accepts a file whose stored record has no upload time", async () => {
    apps = await createAppHarness();
    const app = await apps.make();
    const upload = await apps.run(app, { picture: new Blob([new Uint8Array(await createPicture())]) });
    const name = String((await apps.ended(app, upload.body.run.id)).inputs.picture);
    const { store } = apps.harness.console;
    const { memberId } = apps.harness.getViewer("runner");
    await store.appFiles.addFile(app.id, memberId, { name, ownName: "", bytes: 1, pixels: 1 }, 0);
    await apps.run(app, { picture: new Blob([new Uint8Array(await createPicture(9))]) });
    expect(await store.appFiles.findFile("embedded", memberId, name)).toMatchObject({ name });
  });

  test("removes a killed console's form data at the next start", async () => {
    apps = await createAppHarness();
    const { folder, console } = apps.harness;
    await mkdir(join(folder, "forms", "form-left"), { recursive: true });
    await writeFile(join(folder, "forms", "form-left", "a"), "x");
    await console.stop();
    const restarted = startComposition({ env: console.env });
    await restarted.ready;
    expect(await readdir(folder)).not.toContain("forms");
    await restarted.stop();
  });
});
