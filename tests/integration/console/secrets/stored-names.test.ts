// A console whose database is older than the masking of keys: names of workflows in it contain a key in plain text.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { seal } from "@/lib/server/keys/key-ring";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

const KEY = "a-key-that-looks-like-none-of-them";
const logDestination = { write: () => undefined };

test("keys leave names that an older version stored, at the first start after it, and other names stay", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-older-"));
  const env = readEnv({ LIGHTDESK_DATA_DIR: folder });
  const first = startComposition({ env, logDestination });
  await first.ready;
  await first.stop();

  const file = join(folder, "console.sqlite");
  const older = new SqliteConnection(file);
  const id = "c";
  const { ringKeyId, ciphertext } = seal(first.ring, `api_keys/${id}/k`, KEY);
  older.prepare("INSERT INTO connections (id, name, base_url, created_at) VALUES (?, 'Service', 'http://127.0.0.1:1', 1)").run(id);
  older
    .prepare("INSERT INTO api_keys (id, connection_id, ring_key_id, ciphertext, fingerprint, created_at) VALUES ('k', ?, ?, ?, 'f', 1)")
    .run(id, ringKeyId, ciphertext);
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
