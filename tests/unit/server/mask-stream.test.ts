// The stream must mask at least every secret that masking the parsed JSON would.
import fc from "fast-check";
import { expect, test } from "vitest";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { maskJsonStream } from "@/lib/server/responses/mask-stream";
import { toStream } from "@/lib/server/upstream/streams";

const KEY = "comfyui-0123456789abcdef0123456789abcdef";

async function maskText(json: string, { key = KEY, size = json.length }: { key?: string; size?: number } = {}): Promise<string> {
  const bytes = new TextEncoder().encode(json);
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let offset = 0; offset < bytes.length; offset += size) controller.enqueue(bytes.slice(offset, offset + size));
      controller.close();
    },
  });
  return new Response(maskJsonStream(source, key)).text();
}

test("returns JSON without secrets unchanged, at any chunk boundary", async () => {
  const value = { id: "job-1", list: [1, -0.5, 1e21, true, null, 'a "quoted" \\ line\nlighthouse é 🗼'], "": {}, deep: [[[{}]]] };
  const json = JSON.stringify(value).replace('"id"', '"seed":18446744073709551615,"cfg":7.0,"id"');
  for (const size of [1, 2, 3, 7, json.length]) expect(await maskText(json, { size })).toBe(json);
  const spaced = JSON.stringify(value, null, 2);
  expect(await maskText(spaced, { size: 5 })).toBe(spaced);
});

test("reads many backslashes at the end of a chunk in linear time", async () => {
  const json = `["${"\\".repeat(200_000)}x"]`;
  expect(await maskText(json, { size: json.length - 2 })).toBe(json);
});

const escapeText = (text: string) => [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const encodedKeys = [
  ["plain", KEY],
  ["escaped", escapeText(KEY)],
  ["half escaped", KEY.slice(0, 20) + escapeText(KEY.slice(20))],
  ["in JSON inside a text", JSON.stringify(JSON.stringify({ note: KEY })).slice(1, -1)],
  ["percent-encoded", [...KEY].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join("")],
  ["cut off", `${KEY.slice(0, 24)}..`],
] as const;

test.each(encodedKeys)("masks a key that is %s across chunk boundaries", async (_, encodedKey) => {
  for (const before of ["", "w ".repeat(131_060), ...[5, 60].map((left) => "x".repeat(256 * 1024 - left))]) {
    const json = `{"list":["${before}${encodedKey}${before}"],"${encodedKey}":1}`;
    for (const size of [13, 64 * 1024]) {
      const text = await maskText(json, { size: before.length > 100 && size < 1000 ? 4093 : size });
      expect(JSON.parse(text)).toHaveProperty("list");
      const secretParts = [KEY.slice(0, 17), KEY.slice(-20), escapeText(KEY).slice(-60)];
      for (const part of secretParts) expect(JSON.stringify(JSON.parse(text))).not.toContain(part);
      expect(text).toContain("[REDACTED]");
    }
  }
});

test("masks long runs of backslashes in linear time", async () => {
  // Quadratic time exceeds the test's timeout.
  const json = `["${`${"\\\\".repeat(32_000)}${"a".repeat(1536)}`.repeat(16)}"]`;
  expect(await maskText(json)).toBe(json);
});

test("masks a key of digits in a number", async () => {
  expect(await maskText('{"seed":11234567890123456,"list":[2]}', { key: "1234567890123456", size: 4 })).toBe(
    '{"seed":"[REDACTED]","list":[2]}',
  );
});

test("masks all texts below a secret's name and all values of its node", async () => {
  const value = {
    api_key: "hidden",
    auth: { user: ["hidden", 5, ""] },
    nodes: [
      { inputs: [{ name: "text" }], widgets_values: ["shown"] },
      { inputs: [{ name: "text" }, { name: "api_key" }], widgets_values: ["hidden", { a: "hidden" }] },
      { widgets_values: ["hidden"], inputs: [{ name: "password" }] },
    ],
    url: "https://user:hidden@host/?token=hidden&x=shown",
  };
  const text = await maskText(JSON.stringify(value), { size: 3 });
  expect(text).not.toContain("hidden");
  expect(JSON.parse(text)).toMatchObject({ auth: { user: ["[REDACTED]", 5, ""] }, nodes: [{ widgets_values: ["shown"] }, {}, {}] });
});

test("masks at least every secret that masking the parsed JSON would", async () => {
  const words = fc.constantFrom(
    "api_key",
    "name",
    "inputs",
    "widgets_values",
    "text",
    KEY,
    "bearer abc123def456",
    "hf_0123456789012345678901",
    "x",
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, words, fc.integer(), fc.string(), tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 4 }),
    object: fc.dictionary(fc.oneof(words, fc.string()), tie("value"), { maxKeys: 4 }),
  })).value;
  const getTexts = (value: unknown): string[] =>
    typeof value === "string"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.entries(value).flatMap(([, item]) => getTexts(item))
        : [];
  await fc.assert(
    fc.asyncProperty(json, fc.integer({ min: 1, max: 9 }), async (value, size) => {
      const streamedTexts = getTexts(JSON.parse(await maskText(JSON.stringify(value), { size })));
      const maskedTexts = getTexts(maskSecrets(value, [KEY]));
      expect(streamedTexts).toHaveLength(maskedTexts.length);
      for (const [index, text] of streamedTexts.entries()) if (text !== "[REDACTED]") expect(text).toBe(maskedTexts[index]);
    }),
    { numRuns: 300 },
  );
});

test.each(["<html>", '{"a":comfyui-0123}', '{"a":1', "[1]]", '"cut', '{"a":"\\x"}'])("fails for invalid JSON: %s", async (text) => {
  await expect(maskText(text)).rejects.toThrow();
});

test("reads its source only as far as its reader", async () => {
  let pullCount = 0;
  const endless = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(new TextEncoder().encode(pullCount++ === 0 ? "[1" : ",1")) },
    { highWaterMark: 0 },
  );
  const reader = maskJsonStream(endless, KEY).getReader();
  await reader.read();
  await reader.read();
  await reader.cancel();
  expect(pullCount).toBeLessThan(5);
  expect(await new Response(maskJsonStream(toStream(new TextEncoder().encode("[]")), KEY)).text()).toBe("[]");
});
