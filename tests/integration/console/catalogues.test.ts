// Node catalogues are checked and masked once for each content, kept on disk, and passed on as bytes.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { storeApiKey } from "@/lib/server/keys/key-ring";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

const KEY = "comfyui-0123456789abcdef0123456789abcdef";
const MIB = 1024 ** 2;

let harness: Harness;
let server: LittleServer;
let catalogue: Record<string, unknown> = {};
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { attempts: 1 } });
  server = await startLittleServer(({ url }, response) => answerJson(response, url.startsWith("/api/object_info") ? catalogue : {}));
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});
afterEach(() => (catalogue = {}));

const files = () => {
  const folder = join(harness.folder, "catalogues");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};
const read = async (connection: string) => harness.request(`/api/object_info?connection=${connection}`, { as: "viewer" });

test("a catalogue over 8 MiB is shown whole, masked, with its digits, and kept once for each content", async () => {
  catalogue = Object.fromEntries(
    Array.from({ length: 2000 }, (_, at) => [`Node${at}`, { description: "d".repeat(5000), display_name: `Node ${at}` }]),
  );
  catalogue.Leaky = { description: `the key ${KEY} said back`, input: { required: { api_key: ["STRING", { default: "" }] } } };
  const connection = await harness.connect(server.url, KEY);
  const answer = await read(connection);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text.length).toBeGreaterThan(9 * MIB);
  expect(text).not.toContain(KEY);
  expect(JSON.parse(text)).toMatchObject({
    Leaky: { description: "the key [REDACTED] said back", input: { required: { api_key: ["STRING", { default: "" }] } } },
  });
  const [kept = "", ...more] = files();
  expect(more).toEqual([]);
  expect(statSync(kept).mode & 0o077).toBe(0);
  expect(readFileSync(kept, "latin1")).not.toContain(KEY);
  const before = statSync(kept).ino;
  expect(await (await read(connection)).text()).toBe(text);
  expect(files().map((file) => statSync(file).ino)).toEqual([before]);
  // A catalogue lists files too: what is new is shown at once.
  catalogue = { ...catalogue, New: {} };
  expect(Object.keys(await (await read(connection)).json())).toContain("New");
  expect(files()).toHaveLength(2);
});

test("what was masked with one key is not reused after the key was changed", async () => {
  const keys = ["the-first-key-of-them", "another-key-than-that"] as const;
  catalogue = { Odd: { description: keys.join(" and ") } };
  const connection = await harness.connect(server.url, keys[0]);
  expect(await (await read(connection)).text()).toContain(`[REDACTED] and ${keys[1]}`);
  const { store, ring, now } = harness.console;
  await storeApiKey(store.keys, ring, { connectionId: connection, apiKey: keys[1], now: now() });
  expect(await (await read(connection)).text()).toContain(`${keys[0]} and [REDACTED]`);
});

test("a catalogue of another shape is a failure, and is not kept", async () => {
  catalogue = { Fine: {} };
  const connection = await harness.connect(server.url, KEY);
  const count = files().length;
  Object.assign(catalogue, { toJSON: () => ["no catalogue"] });
  expect((await read(connection)).status).toBe(502);
  expect(files()).toHaveLength(count);
});
