import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { MASK } from "@/lib/contract/secrets/secret-texts";

const ownKey = "Zq7-connection-key-0815";
const vendorKey = `comfyui-${"0123456789abcdef".repeat(4)}`;

describe("masking by field name", () => {
  const secretNames = [
    ...["api_key_comfy_org", "auth_token_comfy_org", "X-API-Key", "apiKey", "api-token", "hf_token", "accessToken", "token"],
    ...["password", "Passphrase", "client_secret", "Authorization", "private_key", "credentials", "Cookie"],
  ];
  it.each(secretNames)("masks %s", (name) => {
    expect(maskSecrets({ deep: [{ [name]: "s3cret" }] })).toEqual({ deep: [{ [name]: MASK }] });
  });

  it.each(["max_tokens", "trigger_token", "tokenizer", "key", "keyframe", "author", "monkey", "seed", "text"])("keeps %s", (name) => {
    const value = { [name]: "plain" };
    expect(maskSecrets(value)).toBe(value);
  });

  it("masks values in lists and objects such as current_inputs", () => {
    expect(maskSecrets({ current_inputs: { api_key: ["s3cret"], auth: { user: "u", value: { __value__: ["s3cret"] } } } })).toEqual({
      current_inputs: { api_key: [MASK], auth: { user: MASK, value: { __value__: [MASK] } } },
    });
  });

  it("keeps links and catalogue descriptions with a secret's name", () => {
    const value = {
      inputs: { api_key: ["12", 0] },
      required: { password: ["STRING", { default: "" }] },
      hidden: { api_key_comfy_org: "API_KEY_COMFY_ORG" },
    };
    expect(maskSecrets(value)).toBe(value);
  });

  it("masks unnamed widget values of a node with a secret input", () => {
    const node = { inputs: [{ name: "model" }, { name: "api_key", widget: { name: "api_key" } }], widgets_values: ["s3cret", 7, null] };
    expect(maskSecrets({ nodes: [node] })).toEqual({ nodes: [{ ...node, widgets_values: [MASK, 7, null] }] });
  });
});

describe("masking by pattern", () => {
  it.each([
    [vendorKey, MASK],
    [`use ${vendorKey}, please`, `use ${MASK}, please`],
    [`key sk-proj-${"a1".repeat(12)}.`, `key ${MASK}.`],
    ["Authorization: Bearer abc123def456", `Authorization: Bearer ${MASK}`],
    [`hf_${"Ab1".repeat(10)}`, MASK],
    [`ld-${"aB3x".repeat(10)}`, MASK],
    [`curl -H "X-API-Key: ld_${"0af9".repeat(16)}"`, `curl -H "X-API-Key: ${MASK}"`],
    ["https://civitai.com/api/download/1?type=Model&token=abc#x", `https://civitai.com/api/download/1?type=Model&token=${MASK}#x`],
    ["http://user:s3cret@host/path", `http://user:${MASK}@host/path`],
    [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0abc.${"x".repeat(20)}`, MASK],
  ])("masks %s", (text, expected) => {
    expect(maskSecrets({ text })).toEqual({ text: expected });
  });

  it.each([
    "comfyui-impact-pack",
    "comfyui-workflow-for-portraits-2024",
    "a flag-bearer standing in the rain",
    "task-force, desk-lamp, disk-usage",
    "https://storage.example/x.png?X-Goog-Signature=0123456789abcdef&X-Goog-Expires=600",
    "mail me@example.org",
    "https://example.org/@someone",
  ])("keeps the text: %s", (text) => {
    const value = { text };
    expect(maskSecrets(value)).toBe(value);
  });
});

describe("masking registered secrets", () => {
  it("masks a secret in texts, names and nested JSON in every encoding", () => {
    const oddKey = 'k"e/y+1';
    const value = { a: `x${ownKey}y`, [ownKey]: 1, nested: [JSON.stringify({ k: oddKey })], url: `?q=${encodeURIComponent(oddKey)}` };
    expect(maskSecrets(value, [ownKey, oddKey])).toEqual({ a: `x${MASK}y`, [MASK]: 1, nested: [`{"k":"${MASK}"}`], url: `?q=${MASK}` });
  });

  it("skips a secret that is too short to be a key", () => {
    const value = { text: "a cat" };
    expect(maskSecrets(value, ["", "a"])).toBe(value);
  });

  it("masks a secret at any depth", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.array(fc.string(), { maxLength: 5 }),
        fc.string(),
        fc.string(),
        (sibling, path, before, after) => {
          const text = path.reduce<unknown>((inner, name) => ({ [name]: [inner, sibling] }), before + ownKey + after);
          expect(JSON.stringify(maskSecrets({ planted: text, around: sibling }, [ownKey]))).not.toContain(ownKey);
        },
      ),
    );
  });
});

describe("masking", () => {
  it("returns the same object when nothing was masked and shares unchanged parts", () => {
    const value = { plain: { a: [1, "x", null, true] }, secret: { token: "s3cret" } };
    const masked = maskSecrets(value);
    expect(masked).not.toBe(value);
    expect(masked.plain).toBe(value.plain);
    expect(value.secret.token).toBe("s3cret");
  });

  it("returns an already masked value unchanged", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom(vendorKey, `Bearer ${vendorKey}`, `?token=${ownKey}`, `://a:${ownKey}@b`, MASK, ownKey + MASK),
    );
    const names = fc.oneof(fc.string(), fc.constantFrom("token", "api_key", "widgets_values", "inputs", "__proto__", ownKey));
    const tree = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        texts,
        fc.integer(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(names, tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(tree, (value) => {
        const masked = maskSecrets(value, [ownKey]);
        expect(maskSecrets(masked, [ownKey])).toBe(masked);
        expect(JSON.stringify(masked) ?? "").not.toContain(ownKey);
      }),
      { numRuns: 500 },
    );
  });

  it("masks content nested too deep to search", () => {
    const deep = Array.from({ length: 5000 }).reduce<unknown>((inner) => [inner], { note: ownKey });
    expect(JSON.stringify(maskSecrets(deep, [ownKey]))).toBe(`${"[".repeat(200)}"${MASK}"${"]".repeat(200)}`);
  });

  it("never changes a prototype", () => {
    const hostile: unknown = JSON.parse('{"__proto__": {"token": "s3cret"}}');
    expect(JSON.stringify(maskSecrets(hostile))).toBe(`{"__proto__":{"token":"${MASK}"}}`);
    expect(Reflect.get({}, "token")).toBeUndefined();
  });
});

const patternStarts = [
  ...["comfyui-", "comfyui-comfyui_", "?", "?a", "://", "://a:", "sk-", "bearer "],
  ...["eyJ-", "eyJaaaaaaaa.", "xoxb-", "hf_", "[", "ld-", "&token"],
];
it.each(patternStarts)("searches 20 MB of %s once", (pattern) => {
  // Exceeds the stack of a search that stores each position in four bytes.
  const text = pattern.repeat(Math.ceil(20_000_000 / pattern.length));
  // A search that restarts at each position takes minutes and exceeds the test's timeout.
  expect(typeof maskSecrets({ text }).text).toBe("string");
});

it("finds a platform key after many similar words", () => {
  const longText = "comfyui-impact-pack comfyui-".repeat(10_000);
  const key = `comfyui-${"a1".repeat(20)}`;
  expect(maskSecrets(`${longText} ${key} ${longText}`)).toBe(`${longText} [REDACTED] ${longText}`);
  expect(maskSecrets(`x-COMFYUI-dev_${"a1".repeat(20)}-tail.`)).toBe("x-[REDACTED].");
  expect(maskSecrets(`comfyui-${"ab-".repeat(14)}${"a1".repeat(20)}`)).toContain("comfyui-ab");
});

it("finds a key across the chunks of a long text", () => {
  const key = `sk-${"a1".repeat(20)}`;
  for (const filler of ["word ", "x", "bearer "])
    for (let before = 262_144 - 60; before < 262_144 + 5; before += 5) {
      const text = filler.repeat(Math.ceil(before / filler.length)).slice(0, before);
      const masked = maskSecrets(`${text} Bearer ${key} ${text}`);
      expect(masked.includes(key.slice(-8))).toBe(false);
      expect(masked).toContain("[REDACTED]");
    }
});

it("keeps number spellings when masking", () => {
  const text = `{"k":5.0,"token":"s3cret","in":{"e":1e3,"list":["${vendorKey}",0.10]}}`;
  expect(writeExactJson(maskSecrets(parseExactJson(text)))).toBe(text.replace("s3cret", MASK).replace(vendorKey, MASK));
});
