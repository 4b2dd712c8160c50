// A console starts on the database of every earlier version and on the data folder of each release, and keeps people's data.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { objectOf } from "@/lib/contract/json/json";
import { hashPassword, verifyPassword } from "@/lib/server/auth/passwords";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { openApiKey } from "@/lib/server/keys/api-keys";
import { type KeyRing, seal } from "@/lib/server/keys/key-ring";
import { firstKey } from "@/lib/server/store/jobs/ledger-entry";
import { migrations } from "@/lib/server/store/migrations";
import { PASSWORD } from "@/tests/support/harness";
import { type Installation, jobEnded, submit, tellOf } from "@/tests/support/installation";
import { createOlderDatabase } from "@/tests/support/older-database";
import { createAppWorld } from "./apps/app-world";

/** Made by that release with `fillInstallation` and `tellOf` of tests/support/installation.ts, without the parts that every start makes. */
type Release = { at: number; made: Installation; told: Record<string, unknown> };

const releases = readdirSync("tests/fixtures/releases")
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length))
  .sort();
const passwordHash = hashPassword(PASSWORD);
const logDestination = { write: () => undefined };

/** A database as that version left it: its tables, and a small team's data in those that the first version had. */
async function writeOlder(file: string, version: string, ring: KeyRing): Promise<void> {
  const sqlite = await createOlderDatabase(file, version);
  const insert = (table: string, row: Record<string, string | number | bigint | null>) => {
    const columns = Object.keys(row);
    sqlite.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map((name) => `@${name}`).join()})`).run(row);
  };
  insert("members", {
    id: "m",
    name: "Ada",
    email: "ada@desk.test",
    role: "owner",
    password_hash: await passwordHash,
    created_at: 1,
  });
  insert("connections", { id: "c", name: "Studio", base_url: "http://127.0.0.1:1", member_id: "m", created_at: 2 });
  const { ringKeyId, ciphertext } = seal(ring, "api_keys/c/k", "a-key-of-the-studio");
  insert("api_keys", { id: "k", connection_id: "c", ring_key_id: ringKeyId, ciphertext, fingerprint: "0123456789ab", created_at: 3 });
  insert("workflow_names", { connection_id: "c", workflow_id: "w", name: "Portrait" });
  // From the twelfth version on, the program hashes each row of the log when it writes it.
  if (version < "0012") insert("audit", { at: 4, request_id: "r", member_id: "m", member_name: "Ada", action: "signIn", status: 200 });
  if (version >= "0014") {
    insert("ledger_connections", { connection_id: "c", ...(version >= "0030" && { jobs: 2 }) });
    for (const ms of [10, 20])
      insert("ledger_jobs", { key: firstKey(1, ms), number: 1, job_id: `j${ms}`, is_exact: 1, kinds: "", item: "{}" });
  }
  const isOldName = version < "0016";
  const key = isOldName ? "press_key" : "idempotency_key";
  if (version >= "0005") {
    const sent = { member_id: "m", [key]: "0123456789abcdef", content_hash: "h", answer: '{"prompt_id":"j"}', created_at: 5 };
    insert(isOldName ? "presses" : "submissions", sent);
  }
  sqlite.close();
}

test.each(Object.keys(migrations))("a database of %s opens, with what was kept in it", async (version) => {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-older-"));
  const env = readEnv({ LIGHTDESK_DATA_DIR: folder });
  const first = startComposition({ env, logDestination });
  await first.ready;
  await first.stop();
  const file = join(folder, "console.sqlite");
  for (const end of ["", "-wal", "-shm"]) await rm(file + end, { force: true });
  await writeOlder(file, version, first.ring);

  const console = startComposition({ env, logDestination });
  await console.ready;
  const { store, ring } = console;
  const member = await store.members.getByEmail("ada@desk.test");
  expect(member).toMatchObject({ id: "m", name: "Ada", role: "owner" });
  expect(await verifyPassword(member?.passwordHash, PASSWORD)).toBe(true);
  expect(await store.connections.getFor("m", "c")).toMatchObject({ name: "Studio", baseUrl: "http://127.0.0.1:1" });
  expect((await store.keys.list()).map((stored) => openApiKey(ring, stored))).toEqual(["a-key-of-the-studio"]);
  expect([...(await store.workflowNames.list("c", ["w"]))]).toEqual([["w", "Portrait"]]);
  const submitted = await store.submissions.find({ memberId: "m", key: "0123456789abcdef" });
  expect(submitted).toEqual(version < "0005" ? undefined : { contentHash: "h", answer: '{"prompt_id":"j"}' });
  // The ledger counts two jobs, so it is full at two.
  expect(await store.jobLedger.oldestOfFull("c", 2)).toBe(version < "0014" ? undefined : 10);
  expect(await store.jobLedger.oldestOfFull("c", 3)).toBeUndefined();
  expect(await store.audit.verify()).toMatchObject({ rows: version < "0012" ? 1 : 0 });
  await console.stop();
  await rm(folder, { recursive: true });
});

test("the data of every release that the changelog names is kept here", () => {
  const named = readFileSync("CHANGELOG.md", "utf8").matchAll(/^## \[(\d[\d.]*)\]/gm);
  expect(releases).toEqual([...named].map(([, release]) => release).sort());
});

test.each(releases)(
  "the data of release %s is there after a start: members sign in, jobs, files, apps and shares are what they were",
  async (release) => {
    const folder = await mkdtemp(join(tmpdir(), "lightdesk-release-"));
    execFileSync("tar", ["-xzf", `tests/fixtures/releases/${release}.tar.gz`, "-C", folder]);
    const { at, made, told }: Release = JSON.parse(readFileSync(`tests/fixtures/releases/${release}.json`, "utf8"));
    const world = await createAppWorld({ made: folder, now: () => at + 3_600_000 });
    // Later releases add fields; they send an app's definition separately, to those who may see it.
    const { [`/api/apps/${made.app}`]: opened, ...others } = told;
    const { definition, ...face } = objectOf(objectOf(opened)?.app) ?? {};
    const now = await tellOf(world, made);
    expect(now).toMatchObject(others);
    expect(now[`/api/apps/${made.app}`]).toMatchObject({ app: face });
    expect((await world.ask(`/api/apps/${made.app}/workflow`, { as: "viewer" })).body).toMatchObject(objectOf(definition) ?? {});
    expect(await jobEnded(world, await submit(world, 8))).toBe("completed");
    await world.dispose();
  },
);
