// Every command with DATABASE_URL, beside a running console: it reports on the rows in the database, and never prints the password.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { fillInstallation, type Installation, tellOf } from "@/tests/support/installation";
import { createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { startRunnerServer } from "@/tests/support/runner-server";
import { httpClient, startServiceProcess } from "@/tests/support/service-process";
import { startProcess } from "@/tests/support/start-process";
import { type AppWorld, createAppWorld } from "../console/apps/app-world";
import { canvas, ended, submit } from "../service/support";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = mkdtempSync(join(tmpdir(), "lightdesk-commands-"));
let world: AppWorld;
let made: Installation;
let database: OwnDatabase;
let other: OwnDatabase;

beforeAll(async () => {
  [database, other] = [await createDatabase(inject("postgres")), await createDatabase(inject("postgres"))];
  world = await createAppWorld({ settings: { DATABASE_URL: database.url } });
  made = await fillInstallation(world);
});
afterAll(async () => {
  await world.dispose();
  await Promise.all([database.drop(), other.drop()]);
  rmSync(root, { recursive: true, force: true });
});

/** The command's output; its exit code is 0. */
async function run(name: string, args: string[] = [], settings: Record<string, string> = {}): Promise<string> {
  const here = { LIGHTDESK_DATA_DIR: world.harness.folder, DATABASE_URL: database.url, PORT: "0" };
  const started = startProcess(`dist/${name}.mjs`, { ...here, ...settings }, args);
  const code = await started.ended;
  expect(started.output()).not.toContain("secret-word");
  expect([name, ...args, code], started.output()).toEqual([name, ...args, 0]);
  return started.output();
}

test("keys and users of the service", async () => {
  const [, prefix = ""] = /listed as (\S+)\./.exec(await run("service", ["keys", "create", "--user", "grace"])) ?? [];
  expect(await run("service", ["keys", "list"])).toContain(`${prefix}  grace (active)`);
  expect(await run("service", ["users", "set-status", "grace", "waitlisted"])).toContain("grace is waitlisted.");
  expect(await run("service", ["keys", "revoke", prefix])).toContain("Revoked");
  expect(await run("service", ["keys", "list"])).toMatch(/grace \(waitlisted\) .* revoked/);
});

test("runners", async () => {
  const runner = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]) });
  expect(await run("service", ["runners", "add", runner.address, "--label", "GPU 1"])).toMatch(/^Added GPU 1 with \d+ node classes/);
  expect(await run("service", ["runners", "pause", "GPU 1"])).toContain("GPU 1 is paused.");
  expect(await run("service", ["runners", "list"])).toMatch(new RegExp(`GPU 1 +${runner.address} +paused`));
  expect(await run("service", ["runners", "remove", "GPU 1"])).toContain("Removed GPU 1.");
  await runner.close();
});

test("members, the audit log, and keys that are rotated", async () => {
  expect(await run("members", ["reset-link", "owner@desk.test"])).toMatch(/http:\S+token=/);
  expect(await run("audit", ["verify"])).toMatch(/^\d+ rows, each as it was written/);
  expect(await run("rotate-keys")).toMatch(/^0 keys sealed anew/);
});

test("the doctor looks at both stores there, and at where the rows are", async () => {
  const printed = await run("doctor");
  for (const check of ["database server", "console database", "service database", "place of the rows", "keys", "clock"])
    expect(printed).toMatch(new RegExp(`^ok    ${check}: `, "m"));
  expect(printed).toContain("Nothing is wrong.");
});

test("a backup has both stores with the files, and is restored into another folder and another database", async () => {
  const place = join(root, "backup");
  expect(await run("backup", [place, "--with-keys"])).toMatch(/5 members.* \d+ jobs.* \d+ files of/);
  expect(await run("restore", [place, "--check"])).toContain("Every byte is as it was.");
  const restored = join(root, "restored");
  const there = { LIGHTDESK_DATA_DIR: restored, DATABASE_URL: other.url };
  expect(await run("restore", [place], there)).toContain("the databases into that of DATABASE_URL");
  expect(readdirSync(restored).sort()).toEqual(["auth-secret", "encryption-keys", "service"]);
  const before = await tellOf(world, made);
  const again = await createAppWorld({ made: restored, settings: { DATABASE_URL: other.url } });
  expect(await tellOf(again, made)).toEqual(before);
  await again.harness.console.stop();
});

test("two services alone share rows and files; a third without their place of files does not start", async () => {
  const own = await createDatabase(inject("postgres"));
  const settings = { DATABASE_URL: own.url, LIGHTDESK_BLOBS: join(root, "shared") };
  const folders = ["one", "two", "three"].map((name) => join(root, name));
  const [one = "", two = "", three = ""] = folders;
  const key = (await run("service", ["keys", "create", "--user", "ada"], { ...settings, LIGHTDESK_DATA_DIR: one }))
    .trim()
    .split("\n")
    .at(-1);
  const services = [await startServiceProcess(one, settings), await startServiceProcess(two, settings)];
  const [here, there] = services.map(({ url }) => httpClient(url, key ?? ""));
  if (!here || !there) throw new Error("there are two");
  const id = await submit(here, canvas());
  const { outputs } = await ended(there, id);
  const [, filename] = /"filename":"([^"]+)"/.exec(JSON.stringify(outputs)) ?? [];
  for (const client of [here, there]) expect((await client.raw("GET", `/api/view?filename=${filename}&type=output`)).status).toBe(200);
  const third = startProcess("dist/service.mjs", { DATABASE_URL: own.url, LIGHTDESK_DATA_DIR: three, PORT: "0" });
  expect([await third.ended, third.output()]).toEqual([
    1,
    expect.stringMatching(/lie in another data folder .* LIGHTDESK_BLOBS to one place/),
  ]);
  for (const service of services) expect(await service.stop()).toBe(0);
  await own.drop();
});

test("files are copied to a place that several may share, with which another folder may join", async () => {
  const bytes = join(root, "bytes");
  mkdirSync(bytes);
  expect(await run("service", ["copy-blobs", "--to", bytes])).toMatch(/^\d+ files, \d+ of them copied now/);
  expect(readdirSync(bytes).sort()).toEqual(["blake3-v1", "lightdesk-store"]);
});
