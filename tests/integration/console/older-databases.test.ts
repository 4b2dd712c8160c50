// A console starts with the databases and the data folder of the last release, and keeps the data. Older ones are refused.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asObject } from "@/lib/contract/json/json";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { openStore } from "@/lib/server/store/store";
import { openDatabase } from "@/lib/service/store/sqlite";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { describeInstallation, type Installation, submit, waitForJob } from "@/tests/support/installation";
import { readSqliteShapes } from "@/tests/support/schema-shapes";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createAppHarness } from "./apps/app-harness";

/** A release's data, created with `fillInstallation` and `describeInstallation` of tests/support/installation.ts. */
type Release = { at: number; made: Installation; answers: Record<string, unknown> };

const releases = readdirSync("tests/fixtures/releases")
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length))
  .sort();
const logDestination = { write: () => undefined };

/** The last schemas before the baselines, with the names of their migrations. */
const readDump = (name: string) => readFileSync(`tests/fixtures/schemas/${name}.sql`, "utf8");
/** Tables that aren't compared, such as the search index of assets, which migration 022 rebuilds. */
const ignoredTables = /^(sqlite_|kysely_|migrations$|ledger_words|asset_search|asset_tag_codes|assets_unsearched|ended_since_clear)/;

async function makeFolder(): Promise<string> {
  const folder = createTemporaryFolder();
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("adopts databases of the last pre-baseline schemas with their rows", async () => {
  const folder = await makeFolder();
  const files = { console: join(folder, "console.sqlite"), service: join(folder, "service", "service.sqlite") };
  await mkdir(join(folder, "service"));
  for (const [name, file] of Object.entries(files)) {
    const database = new SqliteConnection(file);
    database.exec(readDump(`${name}-sqlite`));
    if (name === "console")
      database.exec(
        "INSERT INTO members (id, name, email, role, password_hash, created_at) VALUES ('m', 'Ada', 'a@b.test', 'owner', 'h', 1)",
      );
    else database.exec("INSERT INTO users (id, name, status, created_at) VALUES (7, 'ada', 'active', 1)");
    database.close();
  }
  const console = startComposition({ env: readEnv({ LIGHTDESK_DATA_DIR: folder }), logDestination });
  await console.ready;
  expect(await console.store.members.getByEmail("a@b.test")).toMatchObject({ id: "m", name: "Ada", role: "owner" });
  await console.stop();
  const service = new SqliteConnection(files.service, { readOnly: true });
  expect(service.prepare("SELECT id, name FROM users WHERE id = 7").all()).toEqual([{ id: 7, name: "ada" }]);
  service.close();

  const freshFolder = await makeFolder();
  const otherConsole = startComposition({ env: readEnv({ LIGHTDESK_DATA_DIR: freshFolder }), logDestination });
  await otherConsole.ready;
  await otherConsole.stop();
  const createdFiles = [join(freshFolder, "console.sqlite"), join(freshFolder, "service", "service.sqlite")];
  expect(Object.values(files).map((file) => readSqliteShapes(file, ignoredTables))).toEqual(
    createdFiles.map((file) => readSqliteShapes(file, ignoredTables)),
  );
  const listSql = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' ORDER BY name";
  const listObjects = (file: string) => {
    const database = new SqliteConnection(file, { readOnly: true });
    const objects = database.prepare(listSql).all();
    database.close();
    return objects;
  };
  expect(createdFiles.map(listObjects)).toEqual(Object.values(files).map(listObjects));
});

test.each(["console", "service"])("rejects a %s database of 0.1.0 without changes and names the commit to use", async (name) => {
  const folder = await makeFolder();
  execFileSync("tar", ["-xzf", "tests/fixtures/releases/0.1.0.tar.gz", "-C", folder]);
  const file = name === "console" ? join(folder, "console.sqlite") : join(folder, "service", "service.sqlite");
  const bytes = readFileSync(file);
  const start = async () => {
    if (name === "service") return void (await openDatabase(file, Date.now));
    const store = openStore(folder);
    await store.migrate().finally(() => store.close());
  };
  await expect(start()).rejects.toThrow(/older than the last commit of version 0\.2\.0\. Start that commit .+ with it once/);
  const database = new SqliteConnection(file, { readOnly: true });
  database.close();
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test("has test data of every release in the changelog", () => {
  const versionHeadings = readFileSync("CHANGELOG.md", "utf8").matchAll(/^## \[(\d[\d.]*)\]/gm);
  expect(releases).toEqual([...versionHeadings].map(([, release]) => release).sort());
});

test.each(releases.filter((release) => release !== "0.1.0"))("keeps the data of release %s after a start", async (release) => {
  const folder = createTemporaryFolder();
  execFileSync("tar", ["-xzf", `tests/fixtures/releases/${release}.tar.gz`, "-C", folder]);
  const { at, made, answers }: Release = JSON.parse(readFileSync(`tests/fixtures/releases/${release}.json`, "utf8"));
  const apps = await createAppHarness({ dataDir: folder, now: () => at + 3_600_000 });
  // Later releases add fields. They return an app's definition separately, to members who may see it.
  const { [`/api/apps/${made.app}`]: appResponse, ...otherResponses } = answers;
  const { definition, ...appView } = asObject(asObject(appResponse)?.app) ?? {};
  const description = await describeInstallation(apps, made);
  expect(description).toMatchObject(otherResponses);
  expect(description[`/api/apps/${made.app}`]).toMatchObject({ app: appView });
  expect((await apps.requestJson(`/api/apps/${made.app}/workflow`, { as: "viewer" })).body).toMatchObject(asObject(definition) ?? {});
  expect(await waitForJob(apps, await submit(apps, 8))).toBe("completed");
});
