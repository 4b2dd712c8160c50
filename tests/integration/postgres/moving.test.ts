// An installation moves to PostgreSQL and back by the commands: it never starts without its rows, or on rows that were left behind.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { copyBetween } from "@/lib/server/store/store";
import { migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { fillInstallation, type Installation, jobEnded, submit, tellOf } from "@/tests/support/installation";
import { createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { startProcess } from "@/tests/support/start-process";
import { type AppWorld, createAppWorld } from "../console/apps/app-world";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const root = mkdtempSync(join(tmpdir(), "lightdesk-moving-"));
let folder: string;
let made: Installation;
let before: Record<string, unknown>;
let waits: string;
let database: OwnDatabase;
let older: OwnDatabase;

beforeAll(async () => {
  const world = await createAppWorld({ settings: { DATABASE_URL: "" } });
  ({ folder } = world.harness);
  made = await fillInstallation(world);
  // Waiting jobs move too, with their entries in the queue.
  await setBuiltIn(world, "paused");
  waits = await submit(world, 98);
  before = await tellOf(world, made);
  await world.harness.console.stop();
  [database, older] = [await createDatabase(inject("postgres")), await createDatabase(inject("postgres"))];
});
afterAll(async () => {
  await Promise.all([database.drop(), older.drop()]);
  for (const one of [root, folder]) rmSync(one, { recursive: true, force: true });
});

async function setBuiltIn({ harness }: AppWorld, state: "paused" | "ready"): Promise<void> {
  const runners = harness.console.serviceRunners();
  const builtIn = (await runners.list()).find(({ address }) => address === null);
  expect((await runners.change(builtIn?.id ?? "", { state })).ok).toBe(true);
}

const settingsOf = (dataDir: string, url = "") => ({ LIGHTDESK_DATA_DIR: dataDir, DATABASE_URL: url, PORT: "0" });

/** The output of a console that refuses to start there. */
async function refusal(dataDir: string, url?: string): Promise<string> {
  const console = startComposition({ env: readEnv(settingsOf(dataDir, url)), logDestination: { write: () => undefined } });
  const refusedWith = await console.ready.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  await console.stop();
  return refusedWith;
}

async function command(name: string, args: string[], dataDir: string, url?: string) {
  const process = startProcess(`dist/${name}.mjs`, settingsOf(dataDir, url), args);
  const code = await process.ended;
  expect(process.output()).not.toContain("secret-word");
  return { code, output: process.output() };
}

/** What the installation answers when it is started there. */
async function tellAt(dataDir: string, url = ""): Promise<Record<string, unknown>> {
  const world = await createAppWorld({ made: dataDir, settings: { DATABASE_URL: url } });
  try {
    return await tellOf(world, made);
  } finally {
    await world.harness.console.stop();
  }
}

type Command = [name: string, args: string[]];

/** The last sentence of each refusal. */
async function expectRefused(commands: Command[], sentence: RegExp, url?: string): Promise<void> {
  for (const [name, args] of commands)
    expect([name, ...args, await command(name, args, folder, url)]).toEqual([
      ...[name, ...args],
      { code: 1, output: expect.stringMatching(sentence) },
    ]);
}

test("with DATABASE_URL set before the rows were moved nothing starts, and each command says what to do", async () => {
  expect(await refusal(folder, database.url)).toMatch(/console\.sqlite has the rows.* npm run copy-store -- --to postgres:/);
  const ofBoth: Command[] = [
    ["service", []],
    ["service", ["keys", "list"]],
    ["backup", [join(root, "backup")]],
    ["doctor", []],
  ];
  await expectRefused(ofBoth, /\.sqlite has the rows.* npm run copy-store -- --to postgres:/, database.url);
});

test("a copy that was killed among the service's rows is nobody's to start on; run again it ends, and every row was compared", async () => {
  await migratePostgres(database.url, Date.now);
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query(`BEGIN; LOCK TABLE ${SERVICE_SCHEMA}.job_results IN SHARE MODE`);
  const killed = startProcess("dist/copy-store.mjs", settingsOf(folder), ["--to", database.url]);
  await killed.printed("jobs");
  expect(await killed.stop("SIGKILL")).toBeNull();
  await holder.end();
  expect(await refusal(folder, database.url)).toMatch(/has not ended: run it again/);
  expect(await command("service", ["keys", "list"], folder, database.url)).toMatchObject({ code: 1 });
  // Also if DATABASE_URL is set already.
  expect(await command("copy-store", ["--to", database.url], folder, database.url)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^\d+ rows of \d+ tables copied, and compared row by row/m),
  });
});

test("what is left in the folder is not started on by mistake", async () => {
  expect(await refusal(folder)).toMatch(/are in PostgreSQL: set DATABASE_URL .* npm run copy-store -- --to sqlite:/);
  const some: Command[] = [
    ["service", []],
    ["audit", ["verify"]],
    ["service", ["copy-blobs", "--to", join(root, "bytes")]],
  ];
  await expectRefused(some, /are in PostgreSQL: set DATABASE_URL .* npm run copy-store -- --to sqlite:/);
});

test("on PostgreSQL the installation is what it was", async () => {
  expect(await tellAt(folder, database.url)).toEqual(before);
});

test("a folder is one database's: another database, and another folder without shared files, are refused", async () => {
  const second = join(root, "second");
  mkdirSync(second);
  cpSync(join(folder, "encryption-keys"), join(second, "encryption-keys"));
  expect(await refusal(second, database.url)).toMatch(/files of the database .* lie in another data folder.*LIGHTDESK_BLOBS/);
  expect(await refusal(folder, older.url)).toMatch(/knows no file, though .* holds files of users|has the rows/);
});

test("what came to pass there comes back into the folder, which then starts without DATABASE_URL", async () => {
  const world = await createAppWorld({ made: folder, settings: { DATABASE_URL: database.url } });
  await setBuiltIn(world, "ready");
  for (const id of [waits, await submit(world, 99)]) expect(await jobEnded(world, id)).toBe("completed");
  const later = await tellOf(world, made);
  await world.harness.console.stop();
  expect(await command("copy-store", ["--to", `sqlite:${folder}`], folder, database.url)).toMatchObject({ code: 0 });
  expect(await tellAt(folder)).toEqual(later);
  expect(await refusal(folder, database.url)).toMatch(/^Both .*service\.sqlite and the database of DATABASE_URL have rows/);
});

test("where an earlier version moved the console alone, its service's rows follow by the same command", async () => {
  const place = join(root, "older");
  cpSync(folder, place, { recursive: true });
  before = await tellAt(place);
  // The result of `copy-store` of version 0.2.0.
  await copyBetween({ dataDir: place }, { url: older.url }, () => undefined);
  expect(await refusal(place, older.url)).toMatch(/service\.sqlite has the rows.* npm run copy-store/);
  expect(await command("copy-store", ["--to", older.url], place)).toMatchObject({
    code: 1,
    output: expect.stringContaining("holds a console already"),
  });
  expect(await command("copy-store", ["--to", older.url], place, older.url)).toMatchObject({ code: 0 });
  const world = await createAppWorld({ made: place, settings: { DATABASE_URL: older.url } });
  expect(await tellOf(world, made)).toEqual(before);
  await world.harness.console.stop();
});
