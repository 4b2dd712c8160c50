// An app's file: it makes the same app on another console, cover included; other files are refused.
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AppWorld, createAppWorld, definition, picture } from "./app-world";

let world: AppWorld;
beforeAll(async () => {
  world = await createAppWorld();
});
afterAll(() => world.dispose());

async function bytesOf(path: string) {
  const answer = await world.harness.request(path, { as: "operator" });
  return { status: answer.status, type: answer.headers.get("content-type"), data: Buffer.from(await answer.arrayBuffer()) };
}

test("an app's file is the same app elsewhere, digits and all, without who may see it", async () => {
  const graph = { ...definition.graph, "4": { class_type: "Seeded", inputs: { seed: 1 } } };
  const json = JSON.stringify({ definition: { ...definition, graph }, access: { kind: "team" } }).replace(
    '"seed":1',
    '"seed":18446744073709551615',
  );
  const headers = { "content-type": "application/json" };
  const made = await world.ask("/api/apps?connection=embedded", { as: "operator", method: "POST", body: json, headers });
  const file = await (await world.harness.request(`/api/apps/${made.body.app.id}/export`, { as: "viewer" })).text();
  expect(file).toContain("18446744073709551615");
  const there = await world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", body: file, headers });
  expect(there.body.app).toMatchObject({ title: "Invert", access: "me", version: 1 });
  const back = await (await world.harness.request(`/api/apps/${there.body.app.id}/export`, { as: "operator" })).text();
  expect(back).toBe(file);
});

test("an app's file brings its cover along, which is an asset of its own there", async () => {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(await picture(64, 64))], "cover.png", { type: "image/png" }));
  const sent = new Response(form);
  const type = sent.headers.get("content-type") ?? "";
  const asset = await world.ask("/api/assets?connection=embedded", {
    as: "operator",
    method: "POST",
    body: await sent.arrayBuffer(),
    headers: { "content-type": type },
  });
  const app = await world.make({ definition: { ...definition, cover: asset.body.id } });
  const { body: file } = await world.ask(`/api/apps/${app.id}/export`, { as: "viewer" });
  expect(file.definition).not.toHaveProperty("cover");
  const imported = (json: object) => world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
  const there = await imported(file);
  expect(there.body.app).toMatchObject({ title: "Invert", hasCover: true, version: 1 });
  const [one, other] = await Promise.all([app.id, there.body.app.id].map((id) => bytesOf(`/api/apps/${id}/cover`)));
  expect([one?.status, other?.status, other?.type]).toEqual([200, 200, "image/webp"]);
  expect((await sharp(other?.data).stats()).dominant).toEqual((await sharp(one?.data).stats()).dominant);
  const definitionThere = (await world.ask(`/api/apps/${there.body.app.id}/workflow`, { as: "operator" })).body;
  expect(definitionThere.cover).not.toBe(asset.body.id);
  // A picture of a type that covers do not have is refused.
  expect((await imported({ ...file, cover: "iVBORw0KGgo=" })).body.details).toEqual({ reason: "damaged" });
  // References to removed things are left out.
  const gone = await world.make({ definition: { ...definition, cover: "0191c0de-0000-7000-8000-000000000009" } });
  expect((await world.ask(`/api/apps/${gone.id}/export`, { as: "operator" })).body).not.toHaveProperty("cover");
});

test("an app's file that is wrong, hostile or holds a key is refused with a sentence", async () => {
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
    const answer = await world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
    expect([json, answer.status]).toEqual([json, status]);
    expect(answer.body.message.length).toBeGreaterThan(10);
    expect(JSON.stringify(answer.body)).not.toContain("sk-abcdefgh");
  }
});

test.each([
  ["workflow", definition.graph],
  ["workflow", { nodes: [], links: [] }],
  ["other", []],
  ["otherVersion", { format: "lightdesk-app", formatVersion: 2, definition }],
])("a file that is no app is told as what it is: %s", async (reason, json) => {
  const { status, body } = await world.ask("/api/apps/import?connection=embedded", { as: "operator", method: "POST", json });
  expect([status, body.details]).toEqual([400, { reason }]);
  expect(body.message).toMatch(/^This file is [^:]*\.$/);
});
