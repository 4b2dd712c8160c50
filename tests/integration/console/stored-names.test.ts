// A console whose database is older than the gate for keys: names of workflows in it hold a key in plain.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { storeApiKey } from "@/lib/server/keys/api-keys";

const KEY = "a-key-that-looks-like-none-of-them";
const logDestination = { write: () => undefined };

test("keys leave names that an older version stored, at the first start after it, and other names stay", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-older-"));
  const env = readEnv({ LIGHTDESK_DATA_DIR: folder });
  const first = startComposition({ env, logDestination });
  await first.ready;
  const { id } = await first.store.connections.create({ name: "Service", baseUrl: "http://127.0.0.1:1", createdAt: 1 });
  await storeApiKey(first.store.keys, first.ring, { connectionId: id, apiKey: KEY, now: 1 });
  await first.stop();

  const older = new SqliteDatabase(join(folder, "console.sqlite"));
  older.exec("ALTER TABLE workflow_names DROP COLUMN is_masked; DELETE FROM kysely_migration WHERE name = '0015-masked-names'");
  const insert = older.prepare("INSERT INTO workflow_names (connection_id, workflow_id, name) VALUES (?, ?, ?)");
  insert.run(id, "said", `portrait ${KEY}`);
  insert.run(id, "encoded", `portrait ${Buffer.from(KEY).toString("base64")}`);
  insert.run(id, "looks", "portrait sk-0123456789abcdef0123456789abcdef");
  insert.run(id, "plain", "portrait of a lighthouse");
  older.close();

  const second = startComposition({ env, logDestination });
  await second.ready;
  const names = await second.store.workflowNames.list(id, ["said", "encoded", "looks", "plain"]);
  expect(Object.fromEntries(names)).toEqual({
    said: "portrait [REDACTED]",
    encoded: expect.stringMatching(/^portrait \[REDACTED\]/),
    looks: "portrait [REDACTED]",
    plain: "portrait of a lighthouse",
  });
  expect(await second.store.workflowNames.unmasked()).toEqual([]);
  await second.stop();
  await rm(folder, { recursive: true });
});
