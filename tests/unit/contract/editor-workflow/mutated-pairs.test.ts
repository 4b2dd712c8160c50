// The editor's own pairs, changed in ways that do not affect the sent graph: other ids, another order, the other schema, reroutes and
// bypassed nodes on links, parts in subgraphs, values from primitives. Each is a drawing of its graph. Then one value of each is changed
// and saved.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { readNode } from "@/lib/contract/editor-workflow/file";
import { readWidgets } from "@/lib/contract/editor-workflow/values";
import { createEditableFile } from "@/lib/contract/editor-workflow/write-file";
import { type JsonObject } from "@/lib/contract/json/json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { isLink } from "@/lib/contract/workflow/graph";
import { toComparable } from "./comparable";

const folder = "tests/fixtures/editor-pairs";
const readFixture = (name: string) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const info = objectInfoSchema.parse(readFixture("object-info.json"));
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".editor.json") ? file.replace(".editor.json", "") : []));

/** Their value decides which other inputs exist. */
const choices = /^(resize_type|format)$/;

type Slot = { name: string; type: unknown; link?: number | null; widget?: { name: string } };
type Node = { id: number; type: string; mode: number; inputs?: Slot[]; outputs?: JsonObject[]; widgets_values?: unknown };
type Link = { id: number; origin_id: number; origin_slot: number; target_id: number; target_slot: number; type: unknown };
type File = { version: number; nodes: Node[]; links: Link[]; definitions?: { subgraphs: JsonObject[] }; [extra: string]: unknown };
/** `renamed`: the current id in the graph. */
type MutatedPair = { file: File; renamed: (id: string) => string };
type Change = (pair: MutatedPair, pick: <T>(list: readonly T[]) => T | undefined) => MutatedPair;

const objects = (links: unknown[]): Link[] =>
  links.map((link) => {
    if (!Array.isArray(link)) return structuredClone(link) as Link;
    const [id, origin_id, origin_slot, target_id, target_slot, type] = link;
    return { id, origin_id, origin_slot, target_id, target_slot, type };
  });
/** Files are changed with links as objects and then written in either schema. */
const asSchema = ({ links, ...file }: File, version: number): JsonObject => ({
  ...file,
  version,
  links:
    version === 1
      ? links
      : links.map(({ id, origin_id, origin_slot, target_id, target_slot, type }) => [
          id,
          origin_id,
          origin_slot,
          target_id,
          target_slot,
          type,
        ]),
});
const nextId = ({ nodes, definitions }: File) =>
  1 +
  Math.max(
    0,
    ...nodes.map(({ id }) => id),
    ...(definitions?.subgraphs ?? []).flatMap(({ nodes }) => (nodes as Node[]).map(({ id }) => id)),
  );
const nextLink = ({ links }: File) => 1 + Math.max(1000, ...links.map(({ id }) => id));
const getNode = ({ nodes }: File, id: number) => nodes.find((node) => node.id === id);
const withNode = (file: File, id: number, change: (node: Node) => Node): File => ({
  ...file,
  nodes: file.nodes.map((node) => (node.id === id ? change(node) : node)),
});
/** Inserts a node with one input and one output into a link. */
function onLink(file: File, link: Link, node: Pick<Node, "type" | "mode">, [input, output]: [Slot, JsonObject]): File {
  const [id, first] = [nextId(file), nextLink(file)];
  const newNode: Node = {
    ...node,
    id,
    inputs: [{ ...input, link: first }],
    outputs: [{ ...output, links: [link.id] }],
    widgets_values: [],
  };
  const links = file.links.map((item) => (item.id === link.id ? { ...item, origin_id: id, origin_slot: 0 } : item));
  return { ...file, nodes: [newNode, ...file.nodes], links: [...links, { ...link, id: first, target_id: id, target_slot: 0 }] };
}
const isReal = (file: File, { origin_id: id }: Link) => !["PrimitiveNode", undefined].includes(getNode(file, id)?.type);

const changes: Record<string, Change> = {
  otherOrder: ({ file, renamed }) => ({
    renamed,
    file: {
      ...file,
      nodes: file.nodes.map((node) => ({ ...node, inputs: node.inputs?.toReversed() })).toReversed(),
      links: file.links.toReversed(),
    },
  }),
  otherIds: ({ file, renamed }, pick) => {
    const by = pick([1000, 77, 5]) ?? 0;
    const nodes = file.nodes.map((node) => ({
      ...node,
      id: node.id + by,
      inputs: node.inputs?.map((slot) => ({ ...slot, link: typeof slot.link === "number" ? slot.link + 3 * by : slot.link })),
    }));
    const links = file.links.map((link) => ({
      ...link,
      id: link.id + 3 * by,
      origin_id: link.origin_id + by,
      target_id: link.target_id + by,
    }));
    // Inner ids don't change, so no outer id may become one of them.
    const inner = new Set((file.definitions?.subgraphs ?? []).flatMap(({ nodes }) => (nodes as Node[]).map(({ id }) => id)));
    if (nodes.some(({ id }) => inner.has(id))) return { file, renamed };
    return { file: { ...file, nodes, links }, renamed: (id) => renamed(id).replace(/^\d+/, (number) => String(Number(number) + by)) };
  },
  reroute: ({ file, renamed }, pick) => {
    const link = pick(file.links.filter((link) => isReal(file, link)));
    if (!link) return { file, renamed };
    return {
      renamed,
      file: onLink(file, link, { type: "Reroute", mode: pick([0, 4]) ?? 0 }, [
        { name: "", type: "*" },
        { name: "", type: link.type },
      ]),
    };
  },
  bypass: ({ file, renamed }, pick) => {
    const link = pick(file.links.filter((link) => link.type === "IMAGE" && isReal(file, link)));
    if (!link) return { file, renamed };
    const slots: [Slot, JsonObject] = [
      { name: "image", type: "IMAGE" },
      { name: "IMAGE", type: "IMAGE" },
    ];
    return { renamed, file: onLink(file, link, { type: pick(["ImageInvert", "Nobody.Knows"]) ?? "", mode: 4 }, slots) };
  },
  byName: ({ file, renamed }, pick) => {
    const node = pick(file.nodes.filter(({ type, widgets_values: values }) => info[type] && Array.isArray(values)));
    const nodeInfo = node && info[node.type];
    if (!nodeInfo) return { file, renamed };
    const values = Object.fromEntries(
      readNode(node, info).flatMap((editorNode) =>
        readWidgets(editorNode, nodeInfo).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
      ),
    );
    return { renamed, file: withNode(file, node.id, (item) => ({ ...item, widgets_values: values })) };
  },
  more: ({ file, renamed }, pick) => {
    const node = pick(file.nodes.filter(({ type, widgets_values: values }) => Array.isArray(values) && info[type]));
    return {
      renamed,
      file: node
        ? withNode(file, node.id, (item) => ({ ...item, widgets_values: [...(item.widgets_values as unknown[]), "more", null, 7] }))
        : file,
    };
  },
  primitive: ({ file, renamed }, pick) => {
    const widgets = file.nodes.flatMap((node) => {
      const nodeInfo = info[node.type];
      const linkNames = new Set(node.inputs?.flatMap(({ name, link }) => (typeof link === "number" ? name : [])));
      const widgets = nodeInfo ? readNode(node, info).flatMap((editorNode) => readWidgets(editorNode, nodeInfo)) : [];
      return widgets.flatMap(({ name, value, key }) =>
        !linkNames.has(name) && !choices.test(name) && (typeof value === "number" || typeof value === "string")
          ? { node, name, value, key }
          : [],
      );
    });
    const widget = pick(widgets);
    if (!widget) return { file, renamed };
    const { node, name, value, key } = widget;
    const [id, link] = [nextId(file), nextLink(file)];
    const newNode: Node = {
      id,
      type: "PrimitiveNode",
      mode: pick([0, 2, 4]) ?? 0,
      outputs: [{ name: "x", links: [link], widget: { name } }],
      widgets_values: [value, "fixed"],
    };
    const unlike = typeof value === "number" ? value + 1 : "another";
    const target = withNode(file, node.id, (item) => ({
      ...item,
      inputs: [...(item.inputs ?? []).filter((slot) => slot.name !== name), { name, type: "*", link, widget: { name } }],
      widgets_values: Array.isArray(item.widgets_values)
        ? item.widgets_values.with(Number(key), unlike)
        : { ...(item.widgets_values as JsonObject), [key]: unlike },
    }));
    const links = [...file.links, { id: link, origin_id: id, origin_slot: 0, target_id: node.id, target_slot: 0, type: "*" }];
    return { renamed, file: { ...target, nodes: [...target.nodes, newNode], links } };
  },
  subgraph: ({ file, renamed }, pick) => {
    // A primitive and its targets are not moved into the subgraph.
    const externalIds = new Set(
      file.links.filter((link) => !isReal(file, link)).flatMap(({ origin_id, target_id }) => [origin_id, target_id]),
    );
    const inner = new Set(
      file.nodes.flatMap(({ id, type }) =>
        externalIds.has(id) || type === "Reroute" || type === "PrimitiveNode" || pick([true, false]) ? [] : [id],
      ),
    );
    if (inner.size === 0) return { file, renamed };
    const [id, type] = [nextId(file), `44444444-4444-4444-8444-${String(nextId(file)).padStart(12, "0")}`];
    const within = file.links.filter((link) => inner.has(link.origin_id) && inner.has(link.target_id));
    const into = file.links.filter((link) => !inner.has(link.origin_id) && inner.has(link.target_id));
    const outgoing = file.links.filter((link) => inner.has(link.origin_id) && !inner.has(link.target_id));
    const typeIn = ({ id: link, target_id }: Link) => getNode(file, target_id)?.inputs?.find((slot) => slot.link === link)?.type ?? "*";
    const first = nextLink(file);
    const definition = {
      id: type,
      version: 1,
      name: "Part",
      inputs: into.map((link, at) => ({ id: `i${at}`, name: `in ${at}`, type: typeIn(link), linkIds: [link.id] })),
      outputs: outgoing.map((link, at) => ({ id: `o${at}`, name: `out ${at}`, type: link.type, linkIds: [link.id] })),
      nodes: file.nodes.filter((node) => inner.has(node.id)),
      links: [
        ...within,
        ...into.map((link, at) => ({ ...link, origin_id: -10, origin_slot: at })),
        ...outgoing.map((link, at) => ({ ...link, target_id: -20, target_slot: at })),
      ],
    };
    const use: Node = {
      id,
      type,
      mode: 0,
      inputs: into.map((link, at) => ({ name: `in ${at}`, type: typeIn(link), link: first + at })),
      outputs: outgoing.map((link, at) => ({ name: `out ${at}`, type: link.type, links: [link.id] })),
      widgets_values: [],
    };
    const outside = file.links.filter((link) => !inner.has(link.origin_id) && !inner.has(link.target_id));
    const links = [
      ...outside,
      ...into.map((link, at) => ({ ...link, id: first + at, target_id: id, target_slot: at })),
      ...outgoing.map((link, at) => ({ ...link, origin_id: id, origin_slot: at })),
    ];
    const subgraphs = [...(file.definitions?.subgraphs ?? []), definition];
    const nodes = [...file.nodes.filter((node) => !inner.has(node.id)), use];
    return {
      file: { ...file, nodes, links, definitions: { ...file.definitions, subgraphs } },
      renamed: (old) => renamed(old).replace(/^\d+/, (number) => (inner.has(Number(number)) ? `${id}:${number}` : number)),
    };
  },
};

const renamedGraph = (graph: Record<string, { inputs: JsonObject }>, renamed: (id: string) => string) =>
  Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const inputs = Object.entries(node.inputs).map(([name, value]) => [name, isLink(value) ? [renamed(value[0]), value[1]] : value]);
      return [renamed(id), { ...node, inputs: Object.fromEntries(inputs) }];
    }),
  );
/** Another value of the same kind. */
const another = (value: unknown) => (typeof value === "number" ? value + 1 : typeof value === "boolean" ? !value : `${String(value)}x`);

test("ignores unsent changes of a pair and saves one value in its place", () => {
  const draw = fc.array(
    fc.record({ how: fc.constantFrom(...Object.keys(changes)), draws: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), draw, fc.constantFrom(0.4, 1), fc.nat(), (name, steps, version, choice) => {
      const file = readFixture(`${name}.editor.json`);
      const begin: MutatedPair = { file: { ...file, links: objects(file.links) }, renamed: (id) => id };
      const mutated = steps.reduce((before, { how, draws }) => {
        let at = 0;
        return changes[how]?.(before, (list) => list[(draws[at++ % draws.length] ?? 0) % (list.length || 1)]) ?? before;
      }, begin);
      const changedFile = asSchema(mutated.file, version);
      const { graph } = toApiWorkflow(changedFile, info, { fill: false });
      expect(readMatchingDrawing(changedFile, graph)).toBeDefined();
      expect(toComparable(toApiWorkflow(changedFile, info).graph, info)).toEqual(
        toComparable(renamedGraph(readFixture(`${name}.api.json`), mutated.renamed), info),
      );

      const values = Object.entries(graph).flatMap(([id, node]) =>
        Object.entries(node.inputs).flatMap(([input, value]) =>
          info[node.class_type] && typeof value !== "object" && !choices.test(input) ? [{ id, node, input, value }] : [],
        ),
      );
      const target = values[choice % (values.length || 1)];
      if (!target) return;
      const { id, node, input, value } = target;
      const expectedGraph = { ...graph, [id]: { ...node, inputs: { ...node.inputs, [input]: another(value) } } };
      const writeResult = createEditableFile(changedFile, info).withValues(expectedGraph);
      const now = toApiWorkflow(writeResult.file, info, { fill: false }).graph;
      expect(now[id]?.inputs[input]).toEqual(another(value));
      const unlike = Object.keys(expectedGraph).flatMap((nodeId) =>
        Object.keys(now[nodeId]?.inputs ?? {}).flatMap((value) =>
          JSON.stringify(now[nodeId]?.inputs[value]) === JSON.stringify(expectedGraph[nodeId]?.inputs[value])
            ? []
            : [{ nodeId, input: value }],
        ),
      );
      expect(writeResult.unplaced()).toEqual(unlike);
    }),
    { numRuns: 60, seed: 20261123 },
  );
}, 120_000);
