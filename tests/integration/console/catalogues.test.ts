// Node catalogues are checked and masked once per content, cached on disk, and sent as bytes.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { storeApiKey } from "@/lib/server/keys/key-ring";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const KEY = "comfyui-0123456789abcdef0123456789abcdef";
const MIB = 1024 ** 2;
let catalogue: Record<string, unknown> = {};
const harness = await createHarness({ upstreamLimits: { attempts: 1 } });
const server = await openTestServer(({ url }, response) => sendJsonResponse(response, url.startsWith("/api/object_info") ? catalogue : {}));
afterEach(() => (catalogue = {}));

const listFiles = () => {
  const folder = join(harness.folder, "catalogues");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};
const readCatalogue = async (connection: string) => harness.request(`/api/object_info?connection=${connection}`, { as: "viewer" });

test("serves a redacted catalogue over 8 MiB and caches it once per content", async () => {
  catalogue = Object.fromEntries(
    Array.from({ length: 2000 }, (_, index) => [`Node${index}`, { description: "d".repeat(5000), display_name: `Node ${index}` }]),
  );
  catalogue.Leaky = { description: `the key ${KEY} said back`, input: { required: { api_key: ["STRING", { default: "" }] } } };
  const connection = await harness.connect(server.url, KEY);
  const response = await readCatalogue(connection);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text.length).toBeGreaterThan(9 * MIB);
  expect(text).not.toContain(KEY);
  expect(JSON.parse(text)).toMatchObject({
    Leaky: { description: "the key [REDACTED] said back", input: { required: { api_key: ["STRING", { default: "" }] } } },
  });
  const [cachedFile = "", ...otherFiles] = listFiles();
  expect(otherFiles).toEqual([]);
  expect(statSync(cachedFile).mode & 0o077).toBe(0);
  expect(readFileSync(cachedFile, "latin1")).not.toContain(KEY);
  const before = statSync(cachedFile).ino;
  expect(await (await readCatalogue(connection)).text()).toBe(text);
  expect(listFiles().map((file) => statSync(file).ino)).toEqual([before]);
  // A catalogue also lists files, so it is not cached for long.
  catalogue = { ...catalogue, New: {} };
  expect(Object.keys(await (await readCatalogue(connection)).json())).toContain("New");
  expect(listFiles()).toHaveLength(2);
});

test("doesn't reuse data masked with an earlier key", async () => {
  const keys = ["the-first-key-of-them", "another-key-than-that"] as const;
  catalogue = { Odd: { description: keys.join(" and ") } };
  const connection = await harness.connect(server.url, keys[0]);
  expect(await (await readCatalogue(connection)).text()).toContain(`[REDACTED] and ${keys[1]}`);
  const { store, keyRing, now } = harness.console;
  await storeApiKey(store.keys, keyRing, { connectionId: connection, apiKey: keys[1], now: now() });
  expect(await (await readCatalogue(connection)).text()).toContain(`${keys[0]} and [REDACTED]`);
});

test("rejects a malformed catalogue and does not cache it", async () => {
  catalogue = { Fine: {} };
  const connection = await harness.connect(server.url, KEY);
  const count = listFiles().length;
  Object.assign(catalogue, { toJSON: () => ["no catalogue"] });
  expect((await readCatalogue(connection)).status).toBe(502);
  expect(listFiles()).toHaveLength(count);
});
