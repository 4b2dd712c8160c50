// The pictures that a member who only runs apps may choose from and draw on: their files, their runs' results, the app's own pictures.
import sharp from "sharp";
import { expect, test } from "vitest";
import { type AppPicture } from "@/lib/contract/apps/app";
import { toFileRef } from "@/lib/contract/assets/file-refs";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createAppWorld, definition, picture } from "./app-world";

const world = await createAppWorld();

const masked = (limits = {}) => ({
  definition: {
    ...definition,
    inputs: definition.inputs?.map((input) =>
      input.name === "picture" ? { ...input, control: { kind: "picture" as const, hasMask: true } } : input,
    ),
  },
  limits,
});
const png = async (size: number, name = "photo.png") => new File([new Uint8Array(await picture(size, size))], name, { type: "image/png" });
type As = "runner" | "viewer" | "operator";
const pictures = async (app: { id: string }, as: As = "runner"): Promise<AppPicture[]> =>
  (await world.ask(`/api/apps/${app.id}/pictures`, { as })).body.pictures;
const getFile = (app: { id: string }, value: string) => `/api/apps/${app.id}/files?name=${encodeURIComponent(value)}`;

async function post(path: string, parts: Record<string, string | Blob>, as: As = "runner") {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) form.set(name, part);
  const encoded = new Response(form);
  return world.ask(path, {
    as,
    method: "POST",
    body: await encoded.arrayBuffer(),
    headers: { "content-type": encoded.headers.get("content-type") ?? "" },
  });
}

/** Like the mask editor sends it: transparent where drawn. */
async function drawMask(size: number): Promise<File> {
  const mask = sharp({ create: { width: size, height: size, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } }).png();
  return new File([new Uint8Array(await mask.toBuffer())], "clipspace-mask-1.png", { type: "image/png" });
}
const drawOn = async (app: { id: string }, value: string, size: number) =>
  post(`/api/apps/${app.id}/masks`, { original_ref: JSON.stringify(toFileRef(value)), image: await drawMask(size) });

test("offers members their own pictures and results in every app of the connection", async () => {
  const [app, otherApp] = [await world.make(), await world.make({ definition: { ...definition, title: "Other" } })];
  const startResponse = await world.run(app, { picture: await png(11, "my holiday.png") });
  const run = await world.ended(app, startResponse.body.run.id);
  const otherRun = await world.run(app, { picture: await png(12) }, { as: "operator" });
  const foreign = await world.ended(app, otherRun.body.run.id, { as: "operator" });
  const offered = await pictures(otherApp);
  expect(offered.map(({ from, name }) => [from, name])).toEqual([
    ["made", run.results[0]?.name],
    ["given", "my holiday.png"],
  ]);
  for (const { value } of offered) {
    expect((await world.harness.request(getFile(otherApp, value), { as: "runner" })).status).toBe(200);
    const secondResponse = await world.ask(`/api/apps/${otherApp.id}/runs`, {
      as: "runner",
      method: "POST",
      json: { inputs: { picture: value } },
    });
    expect(secondResponse.status).toBe(202);
    expect(await world.ended(otherApp, secondResponse.body.run.id)).toMatchObject({ state: "completed" });
  }
  // The operator's results and files can't be read, even if their names are guessed.
  const madeNames = (await pictures(app, "operator")).filter(({ from }) => from === "made").map(({ value }) => value);
  expect(madeNames).toHaveLength(1);
  for (const value of [...madeNames, String(foreign.inputs.picture)]) {
    expect((await world.ask(getFile(app, value), { as: "runner" })).status).toBe(404);
    const tried = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", json: { inputs: { picture: value } } });
    expect(tried).toMatchObject({ status: 422, body: { details: { problems: [{ code: "not_yours" }] } } });
  }
});

test("accepts an older result as input and rejects names that only look alike", async () => {
  const app = await world.make();
  const { store } = world.harness.console;
  const { memberId } = world.harness.viewerOf("viewer");
  const storeRun = async (number: number, filename: string) => {
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
    const run = {
      id,
      appId: app.id,
      memberId,
      version: 1,
      contentHash: "x",
      inputs: {},
      createdAt: Date.now() - 1000 + number,
      key: undefined,
    };
    await store.appRuns.begin(run, { runsPerDay: undefined, atOnce: undefined, dayStartMs: 0 });
    const file = { filename, subfolder: `run-${number}`, type: "output" };
    await store.appRuns.set(id, { results: [{ kind: "image", name: filename, label: "", file }] });
  };
  for (let number = 0; number < 250; number += 1) await storeRun(number, "same_00001_.png");
  await storeRun(250, "sameX00001X.png");
  const names: string[] = [];
  for await (const { file } of store.appRuns.findResults("embedded", memberId, '"same_00001_.png"')) names.push(file?.subfolder ?? "");
  expect([names.length, names[0], names.at(-1)]).toEqual([250, "run-249", "run-0"]);
  const values = await pictures(app, "viewer");
  expect(values.filter(({ from }) => from === "made").map(({ value }) => value)).toHaveLength(60);
});

test("offers and shows the app's default and example", async () => {
  const upload = await post(`/api/apps/${(await world.make()).id}/files`, { file: await png(13) }, "operator");
  const example = String(upload.body.name);
  const inputs = definition.inputs?.map((input) => (input.name === "picture" ? { ...input, example } : input));
  const app = await world.make({ definition: { ...definition, inputs } });
  expect((await pictures(app)).find(({ value }) => value === example)).toMatchObject({ from: "example" });
  expect((await world.harness.request(getFile(app, example), { as: "runner" })).status).toBe(200);
  const otherApp = await world.make();
  expect((await world.ask(getFile(otherApp, example), { as: "runner" })).status).toBe(404);
});

test("keeps a member's mask with its picture, runs it and reopens it", async () => {
  const app = await world.make(masked());
  const { body } = await post(`/api/apps/${app.id}/files`, { file: await png(14, "me.png") });
  const response = await drawOn(app, body.name, 14);
  expect(response.status).toBe(200);
  const value: string = response.body.name;
  const [channel] = (await sharp(await getBytes(`${getFile(app, value)}&channel=a`)).stats()).channels;
  expect(channel?.max).toBe(0);
  expect((await pictures(app)).find((appPicture) => appPicture.value === value)).toMatchObject({ name: "me.png", from: "given" });
  const startResponse = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", json: { inputs: { picture: value } } });
  const run = await world.ended(app, startResponse.body.run.id);
  expect(run.state).toBe("completed");
  const madePicture = (await pictures(app)).find(({ from }) => from === "made");
  expect((await drawOn(app, madePicture?.value ?? "", 14)).status).toBe(200);
});

test("refuses masks on foreign pictures, oversized masks and apps without masks", async () => {
  const app = await world.make(masked({ picturePixels: 400 }));
  const otherFile = await post(`/api/apps/${app.id}/files`, { file: await png(15) }, "operator");
  expect((await drawOn(app, otherFile.body.name, 15)).status).toBe(404);
  expect((await drawOn(app, "../secret.png", 15)).status).toBe(404);
  const { body } = await post(`/api/apps/${app.id}/files`, { file: await png(16) });
  expect(await drawOn(app, body.name, 21)).toMatchObject({ status: 422, body: { message: "Picture: may have at most 400 pixels" } });
  expect((await post(`/api/apps/${app.id}/masks`, { original_ref: "{", image: await drawMask(16) })).status).toBe(400);
  const without = await world.make();
  expect((await drawOn(without, body.name, 16)).status).toBe(422);
});

test("validates a masked picture against the uploaded size, not the service's", async () => {
  const noise = sharp({
    create: { width: 64, height: 64, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 60 } },
  });
  const photo = new File([new Uint8Array(await noise.jpeg({ quality: 20 }).toBuffer())], "photo.jpg", { type: "image/jpeg" });
  const app = await world.make(masked({ pictureBytes: photo.size, picturePixels: 64 * 64 }));
  const { body } = await post(`/api/apps/${app.id}/files`, { file: photo });
  const response = await drawOn(app, body.name, 64);
  const run = (to: { id: string }) =>
    world.ask(`/api/apps/${to.id}/runs`, { as: "runner", method: "POST", json: { inputs: { picture: response.body.name } } });
  expect((await getBytes(getFile(app, response.body.name))).length).toBeGreaterThan(photo.size);
  expect((await run(app)).status).toBe(202);
  const smaller = await world.make(masked({ picturePixels: 64 * 63 }));
  expect(await run(smaller)).toMatchObject({ status: 422, body: { details: { problems: [{ code: "too_many_pixels" }] } } });
});

test("hides other members' files of the same name and masks the picture shown", async () => {
  const service = await openTestServer(({ body }, response) => {
    const name = /filename="([^"]*)"/.exec(body.toString("latin1"))?.[1];
    sendJsonResponse(response, { name, subfolder: "", type: "input" });
  });
  // Looks at uploads only, since the console also reads jobs meanwhile.
  const uploadBody = () => service.requests.findLast(({ url }) => url.startsWith("/api/upload/"))?.body.toString("latin1");
  const app = await world.make(masked(), { connection: await world.harness.connect(service.url, "key-of-the-service") });
  await post(`/api/apps/${app.id}/files`, { file: await png(8, "theirs.png [output]") });
  expect(uploadBody()).toContain('filename="theirs.png [output_"');
  expect((await world.ask(getFile(app, "theirs.png [output]"), { as: "runner" })).status).toBe(404);
  await post(`/api/apps/${app.id}/files`, { file: await png(8, "mine.png") });
  // Without a type, some services look among their outputs; others understand more keys.
  const jsonName = JSON.stringify({ filename: "mine.png", asset: "theirs" });
  expect((await post(`/api/apps/${app.id}/masks`, { original_ref: jsonName, image: await drawMask(8) })).status).toBe(200);
  expect(uploadBody()).toContain(JSON.stringify({ filename: "mine.png", subfolder: "", type: "input" }));
  expect(uploadBody()).not.toContain("asset");
  // The member owns a name returned by the service, even if nothing was stored under it.
  expect(uploadBody()).not.toContain("clipspace-mask-1.png");
});

test("reveals where inputs are in the workflow only to those who may see it", async () => {
  const app = await world.make();
  const readApp = async (as: As) => (await world.ask(`/api/apps/${app.id}`, { as })).body.app;
  expect((await readApp("viewer")).inputs[0]).toMatchObject({ name: "picture", node: "1", input: "image" });
  const appView = await readApp("runner");
  expect(appView.inputs[0]).toMatchObject({ name: "picture", label: "Picture" });
  for (const input of appView.inputs) {
    expect(input).not.toHaveProperty("node");
    expect(input).not.toHaveProperty("input");
  }
  expect(JSON.stringify(appView)).not.toContain("filename_prefix");
});

test("grants an app to roles and members, now and after a role change", async () => {
  const { memberId } = world.harness.viewerOf("viewer");
  const app = await world.make({ access: { kind: "members", roles: ["runner"], members: [] } });
  const getStatusAs = async (as: As) => (await world.ask(`/api/apps/${app.id}`, { as })).status;
  expect([await getStatusAs("runner"), await getStatusAs("viewer")]).toEqual([200, 404]);
  const access = { kind: "members", roles: ["operator"], members: [memberId] };
  const changeResponse = await world.ask(`/api/apps/${app.id}`, { as: "operator", method: "PUT", json: { version: 1, access } });
  expect(changeResponse.body.app.chosen).toEqual({ members: [memberId], roles: ["operator"] });
  expect([await getStatusAs("runner"), await getStatusAs("viewer")]).toEqual([404, 200]);
  expect((await world.ask(`/api/apps/${app.id}`, { as: "viewer" })).body.app).not.toHaveProperty("chosen");
  const response = await world.ask("/api/apps/people?connection=embedded", { as: "operator" });
  expect(response.body.people).toContainEqual({ id: memberId, name: "viewer", role: "viewer" });
  expect((await world.ask("/api/apps/people?connection=embedded", { as: "viewer" })).status).toBe(403);
});

async function getBytes(path: string): Promise<Buffer> {
  return Buffer.from(await (await world.harness.request(path, { as: "runner" })).arrayBuffer());
}
