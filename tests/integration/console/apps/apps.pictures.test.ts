// Pictures that an app runner may choose and mask: uploads, results of their runs and the app's own pictures.
import sharp from "sharp";
import { expect, test } from "vitest";
import { type AppPicture } from "@/lib/contract/apps/app";
import { toFileRef } from "@/lib/contract/assets/file-refs";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createAppHarness, createPngFile, definition } from "./app-harness";

const apps = await createAppHarness();

const createMaskAppBody = (limits = {}) => ({
  definition: {
    ...definition,
    inputs: definition.inputs?.map((input) =>
      input.name === "picture" ? { ...input, control: { kind: "picture" as const, hasMask: true } } : input,
    ),
  },
  limits,
});
type RequestRole = "runner" | "viewer" | "operator";
const listPictures = async (app: { id: string }, as: RequestRole = "runner"): Promise<AppPicture[]> =>
  (await apps.requestJson(`/api/apps/${app.id}/pictures`, { as })).body.pictures;
const getFileUrl = (app: { id: string }, value: string) => `/api/apps/${app.id}/files?name=${encodeURIComponent(value)}`;

const post = (path: string, fields: Record<string, string | Blob>, as: RequestRole = "runner") => apps.post(path, fields, { as });

/** Returns a mask like the mask editor's: transparent where drawn. */
async function createMask(size: number): Promise<File> {
  const mask = sharp({ create: { width: size, height: size, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } }).png();
  return new File([new Uint8Array(await mask.toBuffer())], "clipspace-mask-1.png", { type: "image/png" });
}
const uploadMask = async (app: { id: string }, value: string, size: number) =>
  post(`/api/apps/${app.id}/masks`, { original_ref: JSON.stringify(toFileRef(value)), image: await createMask(size) });

test("offers members their own pictures and results in every app of the connection", async () => {
  const [app, otherApp] = [await apps.make(), await apps.make({ definition: { ...definition, title: "Other" } })];
  const startResponse = await apps.run(app, { picture: await createPngFile(11, "my holiday.png") });
  const run = await apps.ended(app, startResponse.body.run.id);
  const otherRun = await apps.run(app, { picture: await createPngFile(12) }, { as: "operator" });
  const operatorRun = await apps.ended(app, otherRun.body.run.id, { as: "operator" });
  const offeredPictures = await listPictures(otherApp);
  expect(offeredPictures.map(({ from, name }) => [from, name])).toEqual([
    ["made", run.results[0]?.name],
    ["given", "my holiday.png"],
  ]);
  for (const { value } of offeredPictures) {
    expect((await apps.harness.request(getFileUrl(otherApp, value), { as: "runner" })).status).toBe(200);
    const secondResponse = await apps.start(otherApp, { picture: value });
    expect(secondResponse.status).toBe(202);
    expect(await apps.ended(otherApp, secondResponse.body.run.id)).toMatchObject({ state: "completed" });
  }
  // The operator's results and files can't be read, even if their names are guessed.
  const madeNames = (await listPictures(app, "operator")).filter(({ from }) => from === "made").map(({ value }) => value);
  expect(madeNames).toHaveLength(1);
  for (const value of [...madeNames, String(operatorRun.inputs.picture)]) {
    expect((await apps.requestJson(getFileUrl(app, value), { as: "runner" })).status).toBe(404);
    const runResponse = await apps.start(app, { picture: value });
    expect(runResponse).toMatchObject({ status: 422, body: { details: { problems: [{ code: "not_yours" }] } } });
  }
});

test("finds results by exact name and offers the latest 60", async () => {
  const app = await apps.make();
  const { store } = apps.harness.console;
  const { memberId } = apps.harness.getViewer("viewer");
  const storeRun = async (number: number, filename: string) => {
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
    const run = { id, appId: app.id, memberId, version: 1, contentHash: "x", inputs: {}, key: undefined };
    const createdAt = Date.now() - 1000 + number;
    await store.appRuns.start({ ...run, createdAt }, { runsPerDay: undefined, maxConcurrentRuns: undefined, dayStartMs: 0 });
    const file = { filename, subfolder: `run-${number}`, type: "output" };
    await store.appRuns.set(id, { results: [{ kind: "image", name: filename, label: "", file }] });
  };
  for (let number = 0; number < 250; number += 1) await storeRun(number, "same_00001_.png");
  await storeRun(250, "sameX00001X.png");
  const names: string[] = [];
  for await (const { file } of store.appRuns.findResults("embedded", memberId, '"same_00001_.png"')) names.push(file?.subfolder ?? "");
  expect([names.length, names[0], names.at(-1)]).toEqual([250, "run-249", "run-0"]);
  const values = await listPictures(app, "viewer");
  expect(values.filter(({ from }) => from === "made").map(({ value }) => value)).toHaveLength(60);
});

test("offers and shows the app's default and example", async () => {
  const upload = await post(`/api/apps/${(await apps.make()).id}/files`, { file: await createPngFile(13) }, "operator");
  const example = String(upload.body.name);
  const inputs = definition.inputs?.map((input) => (input.name === "picture" ? { ...input, example } : input));
  const app = await apps.make({ definition: { ...definition, inputs } });
  expect((await listPictures(app)).find(({ value }) => value === example)).toMatchObject({ from: "example" });
  expect((await apps.harness.request(getFileUrl(app, example), { as: "runner" })).status).toBe(200);
  const otherApp = await apps.make();
  expect((await apps.requestJson(getFileUrl(otherApp, example), { as: "runner" })).status).toBe(404);
});

test("stores a member's mask with its picture and accepts it as an input", async () => {
  const app = await apps.make(createMaskAppBody());
  const { body } = await post(`/api/apps/${app.id}/files`, { file: await createPngFile(14, "me.png") });
  const response = await uploadMask(app, body.name, 14);
  expect(response.status).toBe(200);
  const value: string = response.body.name;
  const [channel] = (await sharp(await getBytes(`${getFileUrl(app, value)}&channel=a`)).stats()).channels;
  expect(channel?.max).toBe(0);
  expect((await listPictures(app)).find((appPicture) => appPicture.value === value)).toMatchObject({ name: "me.png", from: "given" });
  const startResponse = await apps.start(app, { picture: value });
  expect(await apps.ended(app, startResponse.body.run.id)).toMatchObject({ state: "completed" });
  const madePicture = (await listPictures(app)).find(({ from }) => from === "made");
  expect((await uploadMask(app, madePicture?.value ?? "", 14)).status).toBe(200);
});

test("rejects masks that are foreign, oversized or for an app without masks", async () => {
  const app = await apps.make(createMaskAppBody({ picturePixels: 400 }));
  const otherFile = await post(`/api/apps/${app.id}/files`, { file: await createPngFile(15) }, "operator");
  expect((await uploadMask(app, otherFile.body.name, 15)).status).toBe(404);
  expect((await uploadMask(app, "../secret.png", 15)).status).toBe(404);
  const { body } = await post(`/api/apps/${app.id}/files`, { file: await createPngFile(16) });
  expect(await uploadMask(app, body.name, 21)).toMatchObject({ status: 422, body: { message: "Picture: may have at most 400 pixels" } });
  expect((await post(`/api/apps/${app.id}/masks`, { original_ref: "{", image: await createMask(16) })).status).toBe(400);
  const appWithoutMasks = await apps.make();
  expect((await uploadMask(appWithoutMasks, body.name, 16)).status).toBe(422);
});

test("validates a masked picture by the size of the uploaded file", async () => {
  const noise = sharp({
    create: { width: 64, height: 64, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 60 } },
  });
  const photo = new File([new Uint8Array(await noise.jpeg({ quality: 20 }).toBuffer())], "photo.jpg", { type: "image/jpeg" });
  const app = await apps.make(createMaskAppBody({ pictureBytes: photo.size, picturePixels: 64 * 64 }));
  const { body } = await post(`/api/apps/${app.id}/files`, { file: photo });
  const response = await uploadMask(app, body.name, 64);
  const startRun = (target: { id: string }) => apps.start(target, { picture: response.body.name });
  expect((await getBytes(getFileUrl(app, response.body.name))).length).toBeGreaterThan(photo.size);
  expect((await startRun(app)).status).toBe(202);
  const appWithLowerLimit = await apps.make(createMaskAppBody({ picturePixels: 64 * 63 }));
  expect(await startRun(appWithLowerLimit)).toMatchObject({ status: 422, body: { details: { problems: [{ code: "too_many_pixels" }] } } });
});

test("hides other members' files of the same name and masks the member's own file", async () => {
  const service = await openTestServer(({ body }, response) => {
    const name = /filename="([^"]*)"/.exec(body.toString("latin1"))?.[1];
    sendJsonResponse(response, { name, subfolder: "", type: "input" });
  });
  // Only uploads, since the console also polls jobs.
  const getLastUploadBody = () => service.requests.findLast(({ url }) => url.startsWith("/api/upload/"))?.body.toString("latin1");
  const app = await apps.make(createMaskAppBody(), { connection: await apps.harness.connect(service.url, "key-of-the-service") });
  await post(`/api/apps/${app.id}/files`, { file: await createPngFile(8, "theirs.png [output]") });
  expect(getLastUploadBody()).toContain('filename="theirs.png [output_"');
  expect((await apps.requestJson(getFileUrl(app, "theirs.png [output]"), { as: "runner" })).status).toBe(404);
  await post(`/api/apps/${app.id}/files`, { file: await createPngFile(8, "mine.png") });
  // Without a type, some services search their outputs. Others accept more keys.
  const jsonName = JSON.stringify({ filename: "mine.png", asset: "theirs" });
  expect((await post(`/api/apps/${app.id}/masks`, { original_ref: jsonName, image: await createMask(8) })).status).toBe(200);
  expect(getLastUploadBody()).toContain(JSON.stringify({ filename: "mine.png", subfolder: "", type: "input" }));
  expect(getLastUploadBody()).not.toContain("asset");
  // The member owns a name returned by the service, even if nothing was stored under it.
  expect(getLastUploadBody()).not.toContain("clipspace-mask-1.png");
});

test("hides the nodes of inputs from members who can't see the workflow", async () => {
  const app = await apps.make();
  const readApp = async (as: RequestRole) => (await apps.requestJson(`/api/apps/${app.id}`, { as })).body.app;
  expect((await readApp("viewer")).inputs[0]).toMatchObject({ name: "picture", node: "1", input: "image" });
  const appView = await readApp("runner");
  expect(appView.inputs[0]).toMatchObject({ name: "picture", label: "Picture" });
  const names = appView.inputs.flatMap((input: object) => Object.keys(input));
  for (const name of ["node", "input"]) expect(names).not.toContain(name);
  expect(JSON.stringify(appView)).not.toContain("filename_prefix");
});

test("grants access by role and by member, and revokes it after a change", async () => {
  const { memberId } = apps.harness.getViewer("viewer");
  const app = await apps.make({ access: { kind: "members", roles: ["runner"], members: [] } });
  const getStatusAs = async (as: RequestRole) => (await apps.requestJson(`/api/apps/${app.id}`, { as })).status;
  expect([await getStatusAs("runner"), await getStatusAs("viewer")]).toEqual([200, 404]);
  const access = { kind: "members", roles: ["operator"], members: [memberId] };
  const changeResponse = await apps.requestJson(`/api/apps/${app.id}`, { as: "operator", method: "PUT", json: { version: 1, access } });
  expect(changeResponse.body.app.chosen).toEqual({ members: [memberId], roles: ["operator"] });
  expect([await getStatusAs("runner"), await getStatusAs("viewer")]).toEqual([404, 200]);
  expect((await apps.requestJson(`/api/apps/${app.id}`, { as: "viewer" })).body.app).not.toHaveProperty("chosen");
  const response = await apps.requestJson("/api/apps/people?connection=embedded", { as: "operator" });
  expect(response.body.people).toContainEqual({ id: memberId, name: "viewer", role: "viewer" });
  expect((await apps.requestJson("/api/apps/people?connection=embedded", { as: "viewer" })).status).toBe(403);
});

async function getBytes(path: string): Promise<Buffer> {
  return Buffer.from(await (await apps.harness.request(path, { as: "runner" })).arrayBuffer());
}
