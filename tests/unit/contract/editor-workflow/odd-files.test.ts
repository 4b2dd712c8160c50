// Files as no editor saves them: cut, mixed up, hostile. Each ends with a graph or a sentence, and none takes anything down.
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { writable } from "@/lib/contract/editor-workflow/write-values";
import { filledTexts } from "@/lib/contract/nodes/fill-texts";
import { isObject, type JsonObject, parseJson } from "@/lib/contract/json/json";
import { openAnyWorkflow } from "@/components/run/workflow/open-workflow";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import messages from "@/lib/messages/en/run.json";
import { ok } from "@/lib/shared/result";

const folder = "tests/fixtures/editor-pairs";
const text = (name: string) => readFileSync(`${folder}/${name}`, "utf8");
const info = objectInfoSchema.parse(JSON.parse(text("object-info.json")));
const files = readdirSync(folder).filter((name) => name.endsWith(".editor.json"));
const codes = Object.keys(messages.editorNote);
/** Told at the field, in the list of missing classes, or before anything opens. */
const elsewhere = ["value_not_listed", "missing_class", "not_an_editor_file", "too_many_nodes"];

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, -10, -20, "-10", 1e308, -0, "__proto__", "Reroute", "PrimitiveNode", "workflow>x", [], {}, [[]], [null]),
);
/** A part of the file is another value, is gone, or stands in the place of another part. */
const change = fc.record({ at: fc.nat(), how: fc.constantFrom("replace", "remove", "copy"), from: fc.nat(), value: odd });

function changed(file: JsonObject, { at, how, from, value }: { at: number; how: string; from: number; value: unknown }): JsonObject {
  const places: { holder: Record<string, unknown> | unknown[]; key: string }[] = [];
  const open: unknown[] = [file];
  for (let holder = open.pop(); holder !== undefined && places.length < 5000; holder = open.pop()) {
    if (!isObject(holder) && !Array.isArray(holder)) continue;
    for (const [key, inner] of Object.entries(holder)) {
      places.push({ holder, key });
      open.push(inner);
    }
  }
  const [place, other] = [places[at % places.length], places[from % places.length]];
  if (!place || !other) return file;
  const copied: unknown = structuredClone(new Map(Object.entries(other.holder)).get(other.key));
  if (how === "remove") Reflect.deleteProperty(place.holder, place.key);
  else Reflect.set(place.holder, place.key, how === "copy" ? copied : value);
  return file;
}

test("whatever is changed in a file, it becomes a graph of which every oddity has a sentence, and takes values back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), fc.array(change, { minLength: 1, maxLength: 6 }), async (name, changes) => {
      const file = changes.reduce<JsonObject>(changed, structuredClone(JSON.parse(text(name))));
      const { graph, problems } = toApiWorkflow(file, info);
      expect(problems.map(({ code }) => code).filter((code) => !codes.includes(code) && !elsewhere.includes(code))).toEqual([]);
      const seeded = Object.fromEntries(
        Object.entries(graph).map(([id, node]) => [id, { ...node, inputs: { ...node.inputs, ...("seed" in node.inputs && { seed: 1 }) } }]),
      );
      writable(file, info).withValues(seeded).unplaced();
      const opened = await openAnyWorkflow(JSON.stringify(file), { readCatalogue: async () => ok(info) });
      if (!opened.ok) expect(Object.keys(messages.refusal)).toContain(opened.failure.reason.code);
    }),
    { numRuns: 300, seed: 20261123 },
  );
}, 60_000);

test("very long and very deep files end", () => {
  const many = (count: number, make: (at: number) => unknown) => Array.from({ length: count }, (_, at) => make(at));
  const chain = many(4_000, (id) => ({
    id,
    type: "Reroute",
    mode: 4,
    inputs: [{ name: "", type: "*", link: id }],
    outputs: [{ type: "*" }],
  }));
  const links = many(4_000, (id) => [id, id - 1, 0, id, 0, "*"]);
  const sink = { id: 30_000, type: "SaveImage", inputs: [{ name: "images", type: "IMAGE", link: 3_999 }] };
  expect(toApiWorkflow({ nodes: [...chain, sink], links }, info).graph["30000"]).toBeDefined();
  const wide = {
    id: 1,
    type: "KSampler",
    inputs: many(20_000, (at) => ({ name: `i${at}`, link: at })),
    widgets_values: many(200_000, () => 1),
  };
  expect(toApiWorkflow({ nodes: [wide], links: [] }, info).graph["1"]).toBeDefined();
  const deep = `{"nodes":[{"id":1,"type":"KSampler","widgets_values":${"[".repeat(5_000)}${"]".repeat(5_000)}}]}`;
  expect(() => toApiWorkflow(parseJson(deep), info)).not.toThrow();
});

const many = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

test("a subgraph with very many inputs, each linked inside, is read in the time of its size", () => {
  const most = 30_000;
  const id = "11111111-1111-1111-1111-111111111111";
  const inner = { id: 5, type: "Unheard", inputs: many(most, (at) => ({ name: `i${at}`, link: at })) };
  const definition = {
    id,
    nodes: [inner],
    inputs: many(most, (at) => ({ name: `p${at}`, type: "*", linkIds: [at] })),
    links: many(most, (at) => ({ id: at, origin_id: -10, origin_slot: at, target_id: 5, target_slot: at })),
  };
  const use = {
    id: 2,
    type: id,
    inputs: many(most, (at) => ({ name: `p${at}` })),
    properties: { proxyWidgets: many(most, (at) => ["-1", `p${at}`]) },
  };
  const { graph } = toApiWorkflow({ nodes: [use], links: [], definitions: { subgraphs: [definition] } }, info);
  expect(graph["2:5"]).toBeDefined();
});

test("a name for a file that names the same widget again and again is filled in at once", () => {
  const count = 100_000;
  const nodes = many(1_000, (id) => ({ id, type: "KSampler", title: "Named", widgets_values: many(100, () => 1) }));
  const prefix = "%Named.seed%".repeat(count);
  const writer = { id: 2_000, type: "SaveImage", properties: {}, widgets_values: [prefix] };
  const { graph } = toApiWorkflow({ nodes: [...nodes, writer], links: [] }, info);
  expect(graph["2000"]?.inputs.filename_prefix === "1".repeat(count)).toBe(true);
  expect(
    filledTexts({ ...graph, "2000": { class_type: "SaveImage", inputs: { filename_prefix: prefix } } }, info, { at: new Date(), draw: 0 }),
  ).toHaveLength(1);
});
