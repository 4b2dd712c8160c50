// An exported app creates the same app on another console, including its cover. Other files are refused.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { openFiles } from "@/tests/support/open-files";
import { makeToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { type AppWorld, createAppWorld, definition, picture } from "./app-world";

const world = await createAppWorld();

async function getBytes(path: string) {
  const response = await world.harness.request(path, { as: "operator" });
  return { status: response.status, type: response.headers.get("content-type"), data: Buffer.from(await response.arrayBuffer()) };
}

test("imports an exported app with exact digits and without its access", async () => {
  const graph = { ...definition.graph, "4": { class_type: "Seeded", inputs: { seed: 1 } } };
  const json = JSON.stringify({ definition: { ...definition, graph }, access: { kind: "team" } }).replace(
    '"seed":1',
    '"seed":18446744073709551615',
  );
  const headers = { "content-type": "application/json" };
  const response = await world.ask("/api/apps?connection=embedded", { as: "operator", method: "POST", body: json, headers });
  const file = await (await world.harness.request(`/api/apps/${response.body.app.id}/export`, { as: "viewer" })).text();
  expect(file).toContain("18446744073709551615");
  const importResponse = await world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", body: file, headers });
  expect(importResponse.body.app).toMatchObject({ title: "Invert", access: "me", version: 1 });
  const back = await (await world.harness.request(`/api/apps/${importResponse.body.app.id}/export`, { as: "operator" })).text();
  expect(back).toBe(file);
});

test("exports an app with its cover as a separate asset", async () => {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(await picture(64, 64))], "cover.png", { type: "image/png" }));
  const response = new Response(form);
  const type = response.headers.get("content-type") ?? "";
  const asset = await world.ask("/api/assets?connection=embedded", {
    as: "operator",
    method: "POST",
    body: await response.arrayBuffer(),
    headers: { "content-type": type },
  });
  const app = await world.make({ definition: { ...definition, cover: asset.body.id } });
  const { body: file } = await world.ask(`/api/apps/${app.id}/export`, { as: "viewer" });
  expect(file.definition).not.toHaveProperty("cover");
  const imported = (json: object) => world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
  const importResponse = await imported(file);
  expect(importResponse.body.app).toMatchObject({ title: "Invert", hasCover: true, version: 1 });
  const [first, second] = await Promise.all([app.id, importResponse.body.app.id].map((id) => getBytes(`/api/apps/${id}/cover`)));
  expect([first?.status, second?.status, second?.type]).toEqual([200, 200, "image/webp"]);
  expect((await sharp(second?.data).stats()).dominant).toEqual((await sharp(first?.data).stats()).dominant);
  const definitionThere = (await world.ask(`/api/apps/${importResponse.body.app.id}/workflow`, { as: "operator" })).body;
  expect(definitionThere.cover).not.toBe(asset.body.id);
  // A picture of a type that covers do not have is refused.
  expect((await imported({ ...file, cover: "iVBORw0KGgo=" })).body.details).toEqual({ reason: "damaged" });
  // References to removed things are left out.
  const appWithoutCover = await world.make({ definition: { ...definition, cover: "0191c0de-0000-7000-8000-000000000009" } });
  expect((await world.ask(`/api/apps/${appWithoutCover.id}/export`, { as: "operator" })).body).not.toHaveProperty("cover");
});

test("refuses an app file that is wrong, hostile or contains a key", async () => {
  const good = { format: "lightdesk-app", formatVersion: 1, definition };
  const withKey = { ...definition.graph, "9": { class_type: "Partner", inputs: { api_key: "sk-abcdefghijklmnopqrstuvwx" } } };
  const forKey = { name: "key", node: "9", input: "api_key", label: "Key", control: { kind: "text" } };
  const emptied = { ...definition.graph, "9": { class_type: "Partner", inputs: { api_key: "" } } };
  const steps = { name: "steps", node: "3", input: "steps", label: "Steps", control: { kind: "number", min: 5, max: 4 } };
  const bad: [unknown, number][] = [
    [{ ...good, definition: { ...definition, graph: emptied, inputs: [{ ...forKey, default: "sk-abcdefghijklmnopqrstuvwx" }] } }, 400],
    [{ ...good, definition: { ...definition, graph: emptied, inputs: [{ ...forKey, example: "sk-abcdefghijklmnopqrstuvwx" }] } }, 400],
    [{ ...good, definition: { ...definition, inputs: [steps] } }, 400],
    [{ ...good, definition: { ...definition, inputs: [{ ...steps, control: { ...steps.control, kind: "seed" } }] } }, 400],
    [{ ...good, format: "other" }, 400],
    [{ ...good, formatVersion: 2 }, 400],
    [{ ...good, definition: { ...definition, inputs: Array.from({ length: 200 }, () => definition.inputs?.[0]) } }, 400],
    [{ ...good, definition: { ...definition, graph: {} } }, 400],
    [{ ...good, definition: { ...definition, title: "\u0000\u202e" } }, 400],
    [{ ...good, definition: { ...definition, outputs: [{ node: "__proto__", label: "x" }] } }, 400],
    [{ ...good, definition: { ...definition, graph: withKey } }, 422],
    [[], 400],
  ];
  for (const [json, status] of bad) {
    const response = await world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
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
])("names a file that is not an app: %s", async (reason, json) => {
  const { status, body } = await world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
  expect([status, body.details]).toEqual([400, { reason }]);
  expect(body.message).toMatch(/^This file is [^:]*\.$/);
});

const png = async (size: number) => new File([new Uint8Array(await picture(size, size))], "photo.png", { type: "image/png" });

test("serves every operation of an app's document to app runners only", async () => {
  const app = await world.make();
  const { body: document } = await world.ask(`/api/apps/${app.id}/openapi`, { as: "runner" });
  const startResponse = await world.run(app, { picture: await png(9) });
  await world.ended(app, startResponse.body.run.id);
  const statuses: Record<string, number> = {};
  for (const [path, methods] of Object.entries<Record<string, { operationId: string; responses: object }>>(document.paths))
    for (const [method, described] of Object.entries(methods)) {
      const address = path.replace("{run}", startResponse.body.run.id).replace("{number}", "1");
      const form = new FormData();
      form.set(path.endsWith("/files") ? "file" : "picture", await png(10), "p.png");
      const encoded = new Response(form);
      const init = "requestBody" in described && {
        headers: { "content-type": encoded.headers.get("content-type") ?? "" },
        body: await encoded.arrayBuffer(),
      };
      const response = await world.harness.request(address, { as: "runner", method: method.toUpperCase(), ...init });
      await response.arrayBuffer();
      statuses[described.operationId] = response.status;
      expect(Object.keys(described.responses)).toContain(String(response.status));
    }
  expect(statuses).toEqual({ runApp: 202, listAppRuns: 200, readAppRun: 200, cancelAppRun: 200, viewAppResult: 200, addAppFile: 201 });
});

describe("apps files", () => {
  let world: AppWorld;

  test("times out a stalled form and discards it", async () => {
    world = await createAppWorld({ settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });
    const app = await world.make();
    const head = '--b\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\nthe beginning';
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(head)) });
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const response = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers });
    expect(response).toMatchObject({ status: 408, body: { code: "REQUEST_TIMEOUT" } });
    expect(await readdir(join(world.harness.folder, "forms"))).toEqual([]);
    // A removed file that is still open takes up disk space.
    await until(
      "none of its files is open",
      async () => !(await openFiles()).some(({ path }) => path.startsWith(`${world.harness.folder}/forms`)),
    );
  });

  test("accepts a file without a name", async () => {
    world = await createAppWorld();
    const app = await world.make();
    const head = '--b\r\nContent-Disposition: form-data; name="picture"\r\nContent-Type: application/octet-stream\r\n\r\n';
    const body = new Uint8Array(Buffer.concat([Buffer.from(head), await picture(), Buffer.from("\r\n--b--\r\n")]));
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const startResponse = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers });
    expect(startResponse.status).toBe(202);
    expect(await world.ended(app, startResponse.body.run.id)).toMatchObject({ state: "completed" });
  });

  test("keeps an uploaded file as long as a run refers to it", async () => {
    let now = Date.UTC(2026, 0, 1);
    const day = 24 * 60 * 60_000;
    world = await createAppWorld({ now: () => now });
    const app = await world.make();
    // A session would end before that.
    const token = (await makeToken(world.harness, "runner")).headers;
    const give = async (width: number): Promise<string> => {
      const form = new FormData();
      form.set("file", new Blob([new Uint8Array(await picture(width))]), `${width}.png`);
      const encoded = new Response(form);
      const headers = { ...token, "content-type": encoded.headers.get("content-type") ?? "" };
      const body = await encoded.arrayBuffer();
      return (await world.ask(`/api/apps/${app.id}/files`, { method: "POST", body, headers })).body.name;
    };
    const getStatus = async (name: string) => {
      const response = await world.harness.request(`/api/apps/${app.id}/files?name=${encodeURIComponent(name)}`, { headers: token });
      await response.body?.cancel();
      return response.status;
    };
    const name = await give(8);
    now += 80 * day;
    const startResponse = await world.ask(`/api/apps/${app.id}/runs`, {
      headers: token,
      method: "POST",
      json: { inputs: { picture: name } },
    });
    expect(startResponse.status).toBe(202);
    await world.ended(app, startResponse.body.run.id, { headers: token });
    now += 80 * day;
    await give(9);
    expect(await getStatus(name)).toBe(200);
    now += 20 * day;
    await give(10);
    expect(await getStatus(name)).toBe(404);
  });

  test("accepts a file from older records without a time", async () => {
    world = await createAppWorld();
    const app = await world.make();
    const upload = await world.run(app, { picture: new Blob([new Uint8Array(await picture())]) });
    const name = String((await world.ended(app, upload.body.run.id)).inputs.picture);
    const { store } = world.harness.console;
    const { memberId } = world.harness.viewerOf("runner");
    await store.appFiles.addFile(app.id, memberId, { name, ownName: "", bytes: 1, pixels: 1 }, 0);
    await world.run(app, { picture: new Blob([new Uint8Array(await picture(9))]) });
    expect(await store.appFiles.file("embedded", memberId, name)).toMatchObject({ name });
  });

  test("removes a killed console's form data at the next start", async () => {
    world = await createAppWorld();
    const { folder, console } = world.harness;
    await mkdir(join(folder, "forms", "form-left"), { recursive: true });
    await writeFile(join(folder, "forms", "form-left", "a"), "x");
    await console.stop();
    const restarted = startComposition({ env: console.env });
    await restarted.ready;
    expect(await readdir(folder)).not.toContain("forms");
    await restarted.stop();
  });
});
