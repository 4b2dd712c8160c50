import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { createAccessToken } from "@/tests/support/tokens";
import { createAppHarness, createPngFile, definition } from "./app-harness";

const apps = await createAppHarness();

describe("a run", () => {
  test("accepts a picture from an app runner and returns the result", async () => {
    const app = await apps.make();
    const startResponse = await apps.run(app, { picture: await createPngFile() });
    expect(startResponse).toMatchObject({ status: 202, body: { run: { appId: app.id, version: 1, inputs: { prefix: "inverted" } } } });
    // A member who sees only apps doesn't get the job.
    expect(startResponse.body.run).not.toHaveProperty("jobId");
    const run = await apps.ended(app, startResponse.body.run.id);
    expect(run).toMatchObject({ state: "completed", results: [{ number: 1, label: "Result", kind: "image" }] });
    const { data } = await getBytes(run.results[0]?.path ?? "");
    const { dominant } = await sharp(data).stats();
    expect(dominant).toEqual({ r: 8, g: 8, b: 8 });
    const small = await getBytes(`${run.results[0]?.path}?edge=256`);
    expect(small.type).toBe("image/webp");
    // An uploaded file can be viewed and reused by name.
    const fileName = String(run.inputs.picture);
    expect((await getBytes(`/api/apps/${app.id}/files?name=${encodeURIComponent(fileName)}`)).status).toBe(200);
    const secondResponse = await apps.start(app, { picture: fileName, prefix: "second" });
    expect(secondResponse.status).toBe(202);
    await apps.ended(app, secondResponse.body.run.id);
    const listResponse = await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner" });
    expect(listResponse.body.runs.map(({ inputs }: { inputs: { prefix: string } }) => inputs.prefix)).toEqual(["second", "inverted"]);
    const { lastInputs } = (await apps.requestJson(`/api/apps/${app.id}`, { as: "runner" })).body.app;
    expect(lastInputs).toMatchObject({ picture: fileName, prefix: "second" });
  });

  test("appears in job lists with the app's title and its member", async () => {
    const app = await apps.make();
    const startResponse = await apps.run(app, { picture: await createPngFile() }, { as: "operator" });
    const { jobId, id } = startResponse.body.run;
    await apps.ended(app, id, { as: "operator" });
    const jobs = await apps.requestJson("/api/jobs?connection=embedded", { as: "viewer" });
    expect(jobs.body.jobs.find((job: { id: string }) => job.id === jobId)).toMatchObject({ job_label: "Invert", submitted_by: "operator" });
  });

  test("rejects invalid inputs with the app's labels and sends nothing", async () => {
    const app = await apps.make();
    expect(await apps.start(app, {})).toMatchObject({
      status: 422,
      body: { message: "Picture: needs an image", details: { problems: [{ input: "picture", label: "Picture", code: "missing" }] } },
    });
    const textResponse = await apps.run(app, { picture: new File(["no picture"], "a.png") });
    expect(textResponse.status).toBeGreaterThanOrEqual(400);
    const wrongFieldResponse = await apps.run(app, { prefix: new File(["x"], "a.txt"), picture: await createPngFile() });
    expect(wrongFieldResponse).toMatchObject({ status: 422, body: { message: "Name: must be text" } });
    expect((await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner" })).body.runs).toEqual([]);
  });

  test("is idempotent per key and rejects a reused key with different inputs", async () => {
    const app = await apps.make();
    const headers = { "idempotency-key": "the-same-key-0001" };
    const parts = { picture: await createPngFile() };
    const [first, second] = await Promise.all([apps.run(app, parts, { headers }), apps.run(app, parts, { headers })]);
    const later = await apps.run(app, parts, { headers });
    expect([first.status, second.status, later.status]).toEqual([202, 202, 202]);
    expect(new Set([first, second, later].map(({ body }) => body.run.id)).size).toBe(1);
    expect((await apps.run(app, { ...parts, prefix: "x" }, { headers })).status).toBe(409);
    await apps.ended(app, first.body.run.id);
    expect((await apps.requestJson(`/api/apps/${app.id}/runs`, { as: "runner" })).body.runs).toHaveLength(1);
  });

  test("accepts another member's file only once that member shares it in a preset", async () => {
    const app = await apps.make();
    const startResponse = await apps.run(app, { picture: await createPngFile(9) }, { as: "operator" });
    const { picture = "" } = (await apps.ended(app, startResponse.body.run.id, { as: "operator" })).inputs;
    const preset = { method: "POST", json: { name: "Theirs", inputs: { picture }, isTeam: true } };
    expect((await apps.requestJson(`/api/apps/${app.id}/presets`, { as: "runner", ...preset })).status).toBe(422);
    // Saved by a member who became an app user afterwards.
    const ownPreset = { ...preset.json, isTeam: false, memberId: apps.harness.getViewer("runner").memberId };
    await apps.harness.console.store.appFiles.addPreset(app.id, ownPreset);
    expect((await apps.start(app, { picture })).status).toBe(422);
    expect((await apps.requestJson(`/api/apps/${app.id}/presets`, { as: "operator", ...preset })).status).toBe(201);
    const allowedResponse = await apps.start(app, { picture });
    expect(allowedResponse.status).toBe(202);
    await apps.ended(app, allowedResponse.body.run.id);
  });

  test("can be read and cancelled only by its member", async () => {
    const app = await apps.make();
    const startResponse = await apps.run(app, { picture: await createPngFile() });
    const { id } = startResponse.body.run;
    await apps.ended(app, id);
    for (const as of ["viewer", "owner"] as const) {
      expect((await apps.requestJson(`/api/apps/${app.id}/runs/${id}`, { as })).status).toBe(404);
      expect((await apps.requestJson(`/api/apps/${app.id}/runs/${id}/outputs/1`, { as })).status).toBe(404);
      expect((await apps.requestJson(`/api/apps/${app.id}/runs/${id}/cancel`, { as, method: "POST" })).status).toBe(404);
    }
    for (const number of ["0", "2", "-1", "x", "1e9", "__proto__"])
      expect((await apps.requestJson(`/api/apps/${app.id}/runs/${id}/outputs/${number}`, { as: "runner" })).status).toBe(404);
  });

  test("accepts tokens limited to apps and rejects tokens with other limits", async () => {
    const app = await apps.make();
    const [appToken, otherToken] = [
      await createAccessToken(apps.harness, "runner", { operations: ["apps"] }),
      await createAccessToken(apps.harness, "operator", { operations: ["listJobs"] }),
    ];
    const startResponse = await apps.run(app, { picture: await createPngFile() }, { as: undefined, headers: appToken.headers });
    expect(startResponse.status).toBe(202);
    const run = await apps.ended(app, startResponse.body.run.id, { headers: appToken.headers });
    expect((await apps.harness.request(run.results[0]?.path ?? "", { headers: appToken.headers })).status).toBe(200);
    expect((await apps.requestJson(`/api/apps/${app.id}/openapi`, { headers: appToken.headers })).body.info.title).toBe("Invert");
    expect((await apps.run(app, { picture: await createPngFile() }, { as: undefined, headers: otherToken.headers })).status).toBe(403);
  });
});

async function getBytes(path: string) {
  const response = await apps.harness.request(path, { as: "runner" });
  return { status: response.status, type: response.headers.get("content-type"), data: Buffer.from(await response.arrayBuffer()) };
}

test("limits an app token to runs, without the workflow or other files", async () => {
  const app = await apps.make();
  const startResponse = await apps.run(app, { picture: await createPngFile(7) }, { as: "admin" });
  const { inputs } = await apps.ended(app, startResponse.body.run.id, { as: "admin" });
  const file = `/api/apps/${app.id}/files?name=${encodeURIComponent(String(inputs.picture))}`;
  const { headers } = await createAccessToken(apps.harness, "operator", { operations: ["apps"] });
  const readToken = await createAccessToken(apps.harness, "operator", { operations: "reads" });
  for (const subpath of ["workflow", "export", "versions"]) {
    expect([subpath, (await apps.requestJson(`/api/apps/${app.id}/${subpath}`, { headers })).status]).toEqual([subpath, 403]);
    expect((await apps.requestJson(`/api/apps/${app.id}/${subpath}`, { headers: readToken.headers })).status).toBe(200);
  }
  expect((await apps.harness.request(file, { headers })).status).toBe(404);
  expect((await apps.harness.request(file, { headers: readToken.headers })).status).toBe(200);
  const runResponse = await apps.start(app, { picture: inputs.picture }, { as: undefined, headers });
  expect(runResponse).toMatchObject({ status: 422, body: { details: { problems: [{ code: "not_yours" }] } } });
});

test("applies an app's limits to uploaded and named pictures alike", async () => {
  const app = await apps.make({ limits: { picturePixels: 100 } });
  const large = await apps.run(app, { picture: await createPngFile(11) });
  expect(large).toMatchObject({ status: 422, body: { message: "Picture: may have at most 100 pixels" } });
  const unlimitedApp = await apps.make();
  const startResponse = await apps.run(unlimitedApp, { picture: await createPngFile(12) }, { as: "operator" });
  const { inputs } = await apps.ended(unlimitedApp, startResponse.body.run.id, { as: "operator" });
  const runResponse = await apps.start(app, { picture: inputs.picture }, { as: "operator" });
  expect(runResponse).toMatchObject({ status: 422, body: { details: { problems: [{ code: "too_many_pixels", limit: 100 }] } } });
  const smallFileApp = await apps.make({ limits: { pictureBytes: 10 } });
  expect((await apps.run(smallFileApp, { picture: await createPngFile() })).body.details.problems).toMatchObject([
    { code: "file_too_large", limit: 10 },
  ]);
});

describe("an app", () => {
  test("is visible to its creator, chosen members or the team, and to admins if shared", async () => {
    const { memberId } = apps.harness.getViewer("runner");
    const createTitledBody = (name: string) => ({ definition: { ...definition, title: name } });
    const ownApp = await apps.make({ ...createTitledBody("Only mine"), access: { kind: "me" } });
    const chosenApp = await apps.make({ ...createTitledBody("Chosen"), access: { kind: "members", members: [memberId] } });
    const listRolesWithAccess = async (app: { id: string }) => {
      const roles = ["runner", "viewer", "operator", "admin"] as const;
      const responses = await Promise.all(
        roles.map(async (as) => [as, (await apps.requestJson(`/api/apps/${app.id}`, { as })).status] as const),
      );
      return responses.flatMap(([as, status]) => (status === 200 ? [as] : []));
    };
    expect(await listRolesWithAccess(ownApp)).toEqual(["operator"]);
    expect(await listRolesWithAccess(chosenApp)).toEqual(["runner", "operator", "admin"]);
    const { body } = await apps.requestJson("/api/apps?connection=embedded&q=only", { as: "admin" });
    expect(body.apps).toEqual([]);
    expect((await apps.requestJson(`/api/apps/${ownApp.id}/runs`, { as: "runner", method: "POST", json: {} })).status).toBe(404);
  });

  test("can be changed only by its creator or an admin", async () => {
    const app = await apps.make({}, { as: "admin" });
    const json = { version: 1, limits: { atOnce: 2 } };
    const getStatusAs = async (as: "runner" | "viewer" | "operator" | "owner") =>
      (await apps.requestJson(`/api/apps/${app.id}`, { as, method: "PUT", json })).status;
    expect(await Promise.all([getStatusAs("runner"), getStatusAs("viewer"), getStatusAs("operator")])).toEqual([403, 403, 403]);
    expect(await getStatusAs("owner")).toBe(200);
    expect((await apps.requestJson(`/api/apps/${app.id}`, { as: "operator", method: "DELETE" })).status).toBe(403);
    expect((await apps.requestJson(`/api/apps/${app.id}/workflow`, { as: "runner" })).status).toBe(403);
  });

  test("can be found by words and tags, marked as a favourite and paged", async () => {
    for (const name of ["Zebra one", "Zebra two", "Zebra three"])
      await apps.make({ definition: { ...definition, title: name, tags: ["stripes", "100%"] } });
    const list = async (query: string) => (await apps.requestJson(`/api/apps?connection=embedded&${query}`, { as: "runner" })).body;
    const first = await list("q=ZEBRA&limit=2");
    expect(first.apps.map((app: { title: string }) => app.title)).toEqual(["Zebra one", "Zebra three"]);
    expect((await list(`q=zebra&limit=2&after=${encodeURIComponent(first.next)}`)).apps).toMatchObject([{ title: "Zebra two" }]);
    expect((await list("tag=stripes&q=light")).apps).toHaveLength(3);
    expect(first.tags).toContain("stripes");
    await apps.requestJson(`/api/apps/${first.apps[0].id}/favourite`, { as: "runner", method: "PUT" });
    expect((await list("whose=favourites")).apps).toMatchObject([{ title: "Zebra one", isFavourite: true }]);
    const { id } = first.apps[0];
    for (const path of ["/api/apps?connection=embedded&after=nonsense", `/api/apps/${id}/runs?after=nonsense`])
      expect(await apps.requestJson(path, { as: "runner" })).toMatchObject({ status: 400, body: { code: "INVALID_QUERY" } });
  });
});

test("records author and changes of versions, and restores an old version as a new one", async () => {
  const app = await apps.make();
  const change = (version: number, json: object, as: "operator" | "admin" = "operator") =>
    apps.requestJson(`/api/apps/${app.id}`, { as, method: "PUT", json: { version, ...json } });
  expect((await change(1, { definition: { ...definition, title: "Other" } }, "admin")).body.app).toMatchObject({
    version: 2,
    title: "Other",
  });
  // Saving the same content changes nothing, neither the version nor the time.
  const { updatedAt } = (await apps.requestJson(`/api/apps/${app.id}`, { as: "admin" })).body.app;
  const unchangedBody = { definition: { ...definition, title: "Other" }, access: { kind: "team" }, limits: {} };
  expect((await change(2, unchangedBody)).body.app).toMatchObject({ version: 2, updatedAt });
  // A change based on version 1 is refused and changes nothing.
  expect((await change(1, { definition })).status).toBe(409);
  const restored = await apps.requestJson(`/api/apps/${app.id}/versions/1/restore`, { as: "operator", method: "POST" });
  expect(restored.body.app).toMatchObject({ version: 3, title: "Invert" });
  const { versions } = (await apps.requestJson(`/api/apps/${app.id}/versions`, { as: "operator" })).body;
  expect(versions).toMatchObject([
    { number: 3, by: "operator", restoredFrom: 1, changes: [{ what: "title" }] },
    { number: 2, by: "admin", changes: [{ what: "title" }] },
    { number: 1, by: "operator", changes: [{ what: "created" }] },
  ]);
  expect((await apps.requestJson(`/api/apps/${app.id}/versions/9/restore`, { as: "operator", method: "POST" })).status).toBe(404);
});

test("marks apps as unavailable while the console is read-only", async () => {
  const app = await apps.make();
  const { harness } = apps;
  const readCanRun = async () => [
    (await apps.requestJson(`/api/apps/${app.id}`, { as: "runner" })).body.app.canRun,
    (await apps.requestJson("/api/apps?connection=embedded", { as: "runner" })).body.apps[0].canRun,
  ];
  expect(await readCanRun()).toEqual([true, true]);
  await harness.console.store.settings.add("readOnly", JSON.stringify({ since: harness.console.now(), by: "owner" }));
  expect(await readCanRun()).toEqual([false, false]);
  await harness.console.store.settings.remove("readOnly");
});

test("records app changes in the audit log", async () => {
  const app = await apps.make({ definition: { ...definition, title: "Audited" } });
  await apps.requestJson(`/api/apps/${app.id}`, { as: "operator", method: "DELETE" });
  const { body } = await apps.requestJson("/api/console/audit", { as: "owner" });
  const entries: { action: string; target?: string }[] = body.items ?? body.entries;
  expect(entries.filter(({ target }) => target === app.id).map(({ action }) => action)).toEqual(["removeApp", "createApp"]);
});
