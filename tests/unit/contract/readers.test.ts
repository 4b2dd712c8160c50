import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { checkGraph } from "@/components/run/form/checks";
import { readEmbeddedWorkflow } from "@/lib/browser/embedded-workflow";
import { createBlobSource } from "@/lib/browser/files/byte-source";
import { appDefinitionSchema } from "@/lib/contract/apps/app";
import { savedViewBodySchema } from "@/lib/contract/console";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { toApiWorkflow } from "@/lib/contract/editor-workflow/index";
import { parseFailure, readNodeErrors } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { anyText, anything, filter, isTrue, list, map, number, object, oneOf, text, withFallback } from "@/lib/contract/json/readers";
import { allOperations } from "@/lib/contract/operations";
import { graphSchema } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { shareBodySchema } from "@/lib/contract/share";
import { expiresSoon, toMilliseconds } from "@/lib/contract/times";
import { readWorkflow, unwrapWorkflow } from "@/lib/contract/workflow/read-workflow";
import { readLiteral } from "@/lib/service/nodes/literal";
import { groupOutputs, readEnding, readOutputs } from "@/lib/service/runners/read-outputs";
import { createHostileJson, listPrototypeMembers } from "@/tests/support/hostile-keys";
import { createFlac, createGlb, createPng, createTextChunk, createWebp } from "../embedded-workflow/files";

const reader = object(
  { id: text, atMs: number, name: withFallback(text, "unnamed") },
  {
    kind: oneOf(["a", "b"]),
    isDone: isTrue,
    tags: list(
      filter(anyText, (word) => word !== "x"),
      3,
    ),
    sizes: map(number),
    extra: anything,
  },
);

describe("values stored in the browser", () => {
  it("keeps valid known fields and adds defaults", () => {
    const storedValue = {
      id: "1",
      atMs: 2,
      kind: "c",
      isDone: true,
      tags: ["a", "x", 4, "late"],
      sizes: { w: 3, h: "4" },
      extra: null,
      more: 1,
    };
    expect(reader(storedValue)).toEqual({ id: "1", atMs: 2, name: "unnamed", isDone: true, tags: ["a"], sizes: { w: 3 }, extra: null });
  });

  it("returns undefined when a required field is missing or invalid", () => {
    for (const storedValue of [undefined, null, [], "{}", { id: " ", atMs: 2 }, { id: "1" }, { id: "1", atMs: Infinity }])
      expect(reader(storedValue)).toBeUndefined();
  });

  it("keeps nested lists and inherited property names", () => {
    expect(list(list(number))([[1, "2"], [], 3])).toEqual([[1], []]);
    const storedValue: unknown = JSON.parse('{ "__proto__": 1, "constructor": 2 }');
    expect(Object.entries(map(number)(storedValue) ?? {})).toEqual([
      ["__proto__", 1],
      ["constructor", 2],
    ]);
  });

  it("never throws for any stored value", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (storedValue) => void reader({ id: "1", atMs: 2, tags: storedValue, sizes: storedValue, extra: storedValue }),
      ),
    );
  });
});

const hostileKeys = [
  ...["prompt", "workflow", "extra_data", "extra_pnginfo", "inputs", "class_type", "_meta", "title", "nodes", "links", "widgets_values"],
  ...["definitions", "subgraphs", "groupNodes", "extra", "outputs", "status", "messages", "meta", "display_node", "images", "text"],
  ...["node_errors", "errors", "input", "required", "optional", "jobs", "assets", "tags", "user_metadata", "properties", "type", "id"],
];
const membersBefore = listPrototypeMembers();
const graph = graphSchema.parse({ constructor: { class_type: "A", inputs: {} }, "1": { class_type: "B", inputs: {} } });

const readers: Record<string, (value: unknown, text: string) => unknown> = {
  "request and response bodies of all operations": (value) =>
    allOperations.forEach(({ body, responses }) => {
      if (body?.kind === "json") body.schema.safeParse(value);
      for (const operationResponse of Object.values(responses))
        if (operationResponse.kind === "json") operationResponse.schema.safeParse(value);
    }),
  "runner histories": (value) => [
    readEnding({ status: value, outputs: value }),
    readOutputs(groupOutputs({ outputs: value, meta: value }, graph)),
  ],
  "workflow files": (value, text) => [readWorkflow(text), unwrapWorkflow(value), readWorkflow(`{"1":{"class_type":"A","inputs":${text}}}`)],
  "editor files": (value, text) => {
    const file = parseJson(
      `{"nodes":[{"id":1,"type":"constructor","widgets_values":${text},"properties":${text}},${text}],"links":[${text}],"extra":${text}}`,
    );
    const info = objectInfoSchema.safeParse({ constructor: { input: { required: value } } }).data ?? {};
    return [toApiWorkflow(file, info), toApiWorkflow(value, info), readMatchingDrawing(file, graph), readMatchingDrawing(value, graph)];
  },
  "service errors": (value, text) => [readNodeErrors(value), parseFailure({ status: 400, headers: new Headers() }, text)],
  "saved views, apps and shares": (value) =>
    [savedViewBodySchema, appDefinitionSchema, shareBodySchema].map((schema) => schema.safeParse(isObject(value) ? { ...value } : value)),
};

it.each(Object.entries(readers))("reads hostile keys in %s without touching a prototype", (_, read) => {
  fc.assert(
    fc.property(createHostileJson(hostileKeys), (text) => {
      read(parseJson(text), text);
      expect(listPrototypeMembers()).toEqual(membersBefore);
    }),
    { numRuns: 150 },
  );
});

it("reads hostile keys in media metadata without touching a prototype", async () => {
  await fc.assert(
    fc.asyncProperty(createHostileJson(hostileKeys), async (text) => {
      for (const bytes of [
        await createPng(createTextChunk("prompt", text), createTextChunk("workflow", text), createTextChunk("__proto__", text)),
        createFlac([`prompt=${text}`, `workflow=${text}`, `comment=${text}`, `__proto__=${text}`].map((value) => Buffer.from(value))),
        createGlb(`{"asset":{"extras":{"prompt":${text},"workflow":${text}}},"constructor":${text}}`),
        await createWebp({ Model: `prompt:${text}`, Make: `__proto__:${text}` }),
      ])
        await readEmbeddedWorkflow(createBlobSource(new Blob([new Uint8Array(bytes)])));
      expect(listPrototypeMembers()).toEqual(membersBefore);
    }),
    { numRuns: 20 },
  );
});

const INPUT_LENGTH = 600_000;
const longNumber = `${"1".repeat(INPUT_LENGTH)}x`;
const numberInfo = objectInfoSchema.parse({ Scale: { input: { required: { factor: ["FLOAT", {}] } }, output: [], output_node: true } });

/** Each would take minutes in quadratic time. */
it.each<[string, () => unknown]>([
  ["a long number in a prompt", () => readLiteral("FLOAT", { value: longNumber, isFloat: false })],
  ["a long number in a form", () => checkGraph({ 1: { class_type: "Scale", inputs: { factor: longNumber } } }, numberInfo)],
  ["a long unterminated string", () => readWorkflow(`"${'\\"'.repeat(INPUT_LENGTH)}`)],
  ["many nodes with the same id", () => toApiWorkflow({ nodes: Array(INPUT_LENGTH).fill({ id: 1, type: "Note" }) }, {})],
])("reads %s in linear time", (_, read) => void read());

describe("reading times", () => {
  it.each([
    ["seconds with a fraction", 1767225600.25, 1767225600250],
    ["RFC 3339 in UTC", "2026-01-01T00:00:00Z", 1767225600000],
    ["RFC 3339 with microseconds", "2026-01-01T00:00:00.123456Z", 1767225600123],
    ["RFC 3339 with an offset", "2026-01-01T02:00:00+02:00", 1767225600000],
    ["the largest number that is read as seconds", 99_999_999_999, 99_999_999_999_000],
    ["the smallest number that is read as milliseconds", 100_000_000_000, 100_000_000_000],
    ["zero", 0, 0],
  ])("reads %s", (_, value, expected) => {
    expect(toMilliseconds(value)).toBe(expected);
  });

  it.each(["Asia/Shanghai", "America/New_York"])("reads times without a zone as UTC in %s", (zone) => {
    vi.stubEnv("TZ", zone);
    for (const text of ["2026-01-01T00:00:00.000000", "2026-01-01T00:00", "2026-01-01 00:00:00.000000", "2026-01-01"])
      expect(toMilliseconds(text), text).toBe(1767225600000);
    vi.unstubAllEnvs();
  });

  it.each([[null], [""], ["soon"], ["17"], [Number.NaN], [1e300], [{}], [[1]], [true], ["2026-99-99"]])("rejects %s", (value) => {
    expect(toMilliseconds(value)).toBeUndefined();
  });

  it("never throws and returns only valid dates", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const ms = toMilliseconds(value);
        expect(ms === undefined || !Number.isNaN(new Date(ms).getTime())).toBe(true);
      }),
    );
  });
});

describe("expiry warnings", () => {
  const HOUR_MS = 60 * 60_000;
  const DAY_MS = 24 * HOUR_MS;
  it.each([
    ["a day's link in its last tenth", DAY_MS, 2 * HOUR_MS, true],
    ["a day's link before its last tenth", DAY_MS, 3 * HOUR_MS, false],
    ["a year's token three days before its end", 365 * DAY_MS, 3 * DAY_MS, true],
    ["a year's token four days before its end", 365 * DAY_MS, 4 * DAY_MS, false],
    ["an expired link", DAY_MS, 0, false],
  ])("checks %s", (_, lifetimeMs, remainingMs, expected) => {
    expect(expiresSoon({ createdAt: 1000, expiresAt: 1000 + lifetimeMs }, 1000 + lifetimeMs - remainingMs)).toBe(expected);
  });

  it("warns three days ahead without createdAt and never without expiresAt", () => {
    expect(expiresSoon({ expiresAt: 3 * DAY_MS }, 1)).toBe(true);
    expect(expiresSoon({ expiresAt: 4 * DAY_MS }, 1)).toBe(false);
    expect(expiresSoon({ createdAt: 1 }, 10 * DAY_MS)).toBe(false);
  });
});
