// Files given to an app's run, kept on this machine until they are at its service.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { openFiles } from "@/tests/support/open-files";
import { makeToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";
import { type AppWorld, createAppWorld, picture } from "./app-world";

let world: AppWorld;
afterEach(() => world.dispose());

test("a form that stops coming is not waited for, and nothing of it stays", async () => {
  world = await createAppWorld({ settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });
  const app = await world.make();
  const head = '--b\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\nthe beginning';
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(head)) });
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const answer = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers });
  expect(answer).toMatchObject({ status: 408, body: { code: "REQUEST_TIMEOUT" } });
  expect(await readdir(join(world.harness.folder, "forms"))).toEqual([]);
  // A removed file that is still open keeps taking disk space.
  await until(
    "none of its files is open",
    async () => !(await openFiles()).some(({ path }) => path.startsWith(`${world.harness.folder}/forms`)),
  );
});

test("a file that comes without a name is taken like any other", async () => {
  world = await createAppWorld();
  const app = await world.make();
  const head = '--b\r\nContent-Disposition: form-data; name="picture"\r\nContent-Type: application/octet-stream\r\n\r\n';
  const body = new Uint8Array(Buffer.concat([Buffer.from(head), await picture(), Buffer.from("\r\n--b--\r\n")]));
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const begun = await world.ask(`/api/apps/${app.id}/runs`, { as: "runner", method: "POST", body, headers });
  expect(begun.status).toBe(202);
  expect(await world.ended(app, begun.body.run.id)).toMatchObject({ state: "completed" });
});

test("a file that was given is known as long as a run that names it, and is forgotten after that", async () => {
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
  const statusOf = async (name: string) => {
    const answer = await world.harness.request(`/api/apps/${app.id}/files?name=${encodeURIComponent(name)}`, { headers: token });
    await answer.body?.cancel();
    return answer.status;
  };
  const name = await give(8);
  now += 80 * day;
  const begun = await world.ask(`/api/apps/${app.id}/runs`, { headers: token, method: "POST", json: { inputs: { picture: name } } });
  expect(begun.status).toBe(202);
  await world.ended(app, begun.body.run.id, { headers: token });
  now += 80 * day;
  await give(9);
  expect(await statusOf(name)).toBe(200);
  now += 20 * day;
  await give(10);
  expect(await statusOf(name)).toBe(404);
});

test("a file from before files had a time is kept when others are given", async () => {
  world = await createAppWorld();
  const app = await world.make();
  const given = await world.run(app, { picture: new Blob([new Uint8Array(await picture())]) });
  const name = String((await world.ended(app, given.body.run.id)).inputs.picture);
  const { store } = world.harness.console;
  const { memberId } = world.harness.viewerOf("runner");
  await store.appKeeps.addFile(app.id, memberId, { name, ownName: "", bytes: 1, pixels: 1 }, 0);
  await world.run(app, { picture: new Blob([new Uint8Array(await picture(9))]) });
  expect(await store.appKeeps.file("embedded", memberId, name)).toMatchObject({ name });
});

test("what a console that was killed left of forms is gone when it starts again", async () => {
  world = await createAppWorld();
  const { folder, console } = world.harness;
  await mkdir(join(folder, "forms", "form-left"), { recursive: true });
  await writeFile(join(folder, "forms", "form-left", "a"), "x");
  await console.stop();
  const again = startComposition({ env: console.env });
  await again.ready;
  expect(await readdir(folder)).not.toContain("forms");
  await again.stop();
});
