// Mutates the editor's own files without changing the sent graph: ids, order, schema, reroutes, bypassed nodes, subgraphs and primitives.
// Each file must still match its graph. The test then changes and saves one value.
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
import { toComparable } from "./to-comparable";

const folder = "tests/fixtures/editor-pairs";
const readFixture = (name: string) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
const info = objectInfoSchema.parse(readFixture("object-info.json"));
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".editor.json") ? file.replace(".editor.json", "") : []));

/** Inputs whose value decides which other inputs exist. */
const choiceInputs = /^(resize_type|format)$/;

type Slot = { name: string; type: unknown; link?: number | null; widget?: { name: string } };
type Node = { id: number; type: string; mode: number; inputs?: Slot[]; outputs?: JsonObject[]; widgets_values?: unknown };
type Link = { id: number; origin_id: number; origin_slot: number; target_id: number; target_slot: number; type: unknown };
type File = { version: number; nodes: Node[]; links: Link[]; definitions?: { subgraphs: JsonObject[] }; [extra: string]: unknown };
/** `getNewId` maps an original node id to its id in the mutated graph. */
type MutatedPair = { file: File; getNewId: (id: string) => string };
type Mutation = (pair: MutatedPair, pick: <T>(list: readonly T[]) => T | undefined) => MutatedPair;

const toLinkObjects = (links: unknown[]): Link[] =>
  links.map((link) => {
    if (!Array.isArray(link)) return structuredClone(link) as Link;
    const [id, origin_id, origin_slot, target_id, target_slot, type] = link;
    return { id, origin_id, origin_slot, target_id, target_slot, type };
  });
/** Files are changed with links as objects and then written in either schema. */
const toSchema = ({ links, ...file }: File, version: number): JsonObject => ({
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
const getNextId = ({ nodes, definitions }: File) =>
  1 +
  Math.max(
    0,
    ...nodes.map(({ id }) => id),
    ...(definitions?.subgraphs ?? []).flatMap(({ nodes }) => (nodes as Node[]).map(({ id }) => id)),
  );
const getNextLinkId = ({ links }: File) => 1 + Math.max(1000, ...links.map(({ id }) => id));
const getNode = ({ nodes }: File, id: number) => nodes.find((node) => node.id === id);
const updateNode = (file: File, id: number, change: (node: Node) => Node): File => ({
  ...file,
  nodes: file.nodes.map((node) => (node.id === id ? change(node) : node)),
});
/** Inserts a node with one input and one output into a link. */
function insertIntoLink(file: File, link: Link, node: Pick<Node, "type" | "mode">, [input, output]: [Slot, JsonObject]): File {
  const [id, newLinkId] = [getNextId(file), getNextLinkId(file)];
  const newNode: Node = {
    ...node,
    id,
    inputs: [{ ...input, link: newLinkId }],
    outputs: [{ ...output, links: [link.id] }],
    widgets_values: [],
  };
  const links = file.links.map((item) => (item.id === link.id ? { ...item, origin_id: id, origin_slot: 0 } : item));
  return { ...file, nodes: [newNode, ...file.nodes], links: [...links, { ...link, id: newLinkId, target_id: id, target_slot: 0 }] };
}
const hasNodeOrigin = (file: File, { origin_id: id }: Link) => !["PrimitiveNode", undefined].includes(getNode(file, id)?.type);

const mutations: Record<string, Mutation> = {
  reverseOrder: ({ file, getNewId }) => ({
    getNewId,
    file: {
      ...file,
      nodes: file.nodes.map((node) => ({ ...node, inputs: node.inputs?.toReversed() })).toReversed(),
      links: file.links.toReversed(),
    },
  }),
  shiftIds: ({ file, getNewId }, pick) => {
    const offset = pick([1000, 77, 5]) ?? 0;
    const nodes = file.nodes.map((node) => ({
      ...node,
      id: node.id + offset,
      inputs: node.inputs?.map((slot) => ({ ...slot, link: typeof slot.link === "number" ? slot.link + 3 * offset : slot.link })),
    }));
    const links = file.links.map((link) => ({
      ...link,
      id: link.id + 3 * offset,
      origin_id: link.origin_id + offset,
      target_id: link.target_id + offset,
    }));
    // Inner ids don't change, so an outer id must not collide with one.
    const innerIds = new Set((file.definitions?.subgraphs ?? []).flatMap(({ nodes }) => (nodes as Node[]).map(({ id }) => id)));
    if (nodes.some(({ id }) => innerIds.has(id))) return { file, getNewId };
    return { file: { ...file, nodes, links }, getNewId: (id) => getNewId(id).replace(/^\d+/, (number) => String(Number(number) + offset)) };
  },
  insertReroute: ({ file, getNewId }, pick) => {
    const link = pick(file.links.filter((link) => hasNodeOrigin(file, link)));
    if (!link) return { file, getNewId };
    return {
      getNewId,
      file: insertIntoLink(file, link, { type: "Reroute", mode: pick([0, 4]) ?? 0 }, [
        { name: "", type: "*" },
        { name: "", type: link.type },
      ]),
    };
  },
  insertBypassedNode: ({ file, getNewId }, pick) => {
    const link = pick(file.links.filter((link) => link.type === "IMAGE" && hasNodeOrigin(file, link)));
    if (!link) return { file, getNewId };
    const slots: [Slot, JsonObject] = [
      { name: "image", type: "IMAGE" },
      { name: "IMAGE", type: "IMAGE" },
    ];
    return { getNewId, file: insertIntoLink(file, link, { type: pick(["ImageInvert", "Unknown.Class"]) ?? "", mode: 4 }, slots) };
  },
  nameValues: ({ file, getNewId }, pick) => {
    const node = pick(file.nodes.filter(({ type, widgets_values: values }) => info[type] && Array.isArray(values)));
    const nodeInfo = node && info[node.type];
    if (!nodeInfo) return { file, getNewId };
    const values = Object.fromEntries(
      readNode(node, info).flatMap((editorNode) =>
        readWidgets(editorNode, nodeInfo).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
      ),
    );
    return { getNewId, file: updateNode(file, node.id, (item) => ({ ...item, widgets_values: values })) };
  },
  appendValues: ({ file, getNewId }, pick) => {
    const node = pick(file.nodes.filter(({ type, widgets_values: values }) => Array.isArray(values) && info[type]));
    return {
      getNewId,
      file: node
        ? updateNode(file, node.id, (item) => ({ ...item, widgets_values: [...(item.widgets_values as unknown[]), "more", null, 7] }))
        : file,
    };
  },
  linkPrimitive: ({ file, getNewId }, pick) => {
    const widgets = file.nodes.flatMap((node) => {
      const nodeInfo = info[node.type];
      const linkNames = new Set(node.inputs?.flatMap(({ name, link }) => (typeof link === "number" ? name : [])));
      const widgets = nodeInfo ? readNode(node, info).flatMap((editorNode) => readWidgets(editorNode, nodeInfo)) : [];
      return widgets.flatMap(({ name, value, key }) =>
        !linkNames.has(name) && !choiceInputs.test(name) && (typeof value === "number" || typeof value === "string")
          ? { node, name, value, key }
          : [],
      );
    });
    const widget = pick(widgets);
    if (!widget) return { file, getNewId };
    const { node, name, value, key } = widget;
    const [id, link] = [getNextId(file), getNextLinkId(file)];
    const newNode: Node = {
      id,
      type: "PrimitiveNode",
      mode: pick([0, 2, 4]) ?? 0,
      outputs: [{ name: "x", links: [link], widget: { name } }],
      widgets_values: [value, "fixed"],
    };
    const otherValue = typeof value === "number" ? value + 1 : "another";
    const target = updateNode(file, node.id, (item) => ({
      ...item,
      inputs: [...(item.inputs ?? []).filter((slot) => slot.name !== name), { name, type: "*", link, widget: { name } }],
      widgets_values: Array.isArray(item.widgets_values)
        ? item.widgets_values.with(Number(key), otherValue)
        : { ...(item.widgets_values as JsonObject), [key]: otherValue },
    }));
    const links = [...file.links, { id: link, origin_id: id, origin_slot: 0, target_id: node.id, target_slot: 0, type: "*" }];
    return { getNewId, file: { ...target, nodes: [...target.nodes, newNode], links } };
  },
  moveIntoSubgraph: ({ file, getNewId }, pick) => {
    // A primitive and its targets are not moved into the subgraph.
    const externalIds = new Set(
      file.links.filter((link) => !hasNodeOrigin(file, link)).flatMap(({ origin_id, target_id }) => [origin_id, target_id]),
    );
    const innerIds = new Set(
      file.nodes.flatMap(({ id, type }) =>
        externalIds.has(id) || type === "Reroute" || type === "PrimitiveNode" || pick([true, false]) ? [] : [id],
      ),
    );
    if (innerIds.size === 0) return { file, getNewId };
    const [id, type] = [getNextId(file), `44444444-4444-4444-8444-${String(getNextId(file)).padStart(12, "0")}`];
    const innerLinks = file.links.filter((link) => innerIds.has(link.origin_id) && innerIds.has(link.target_id));
    const incomingLinks = file.links.filter((link) => !innerIds.has(link.origin_id) && innerIds.has(link.target_id));
    const outgoingLinks = file.links.filter((link) => innerIds.has(link.origin_id) && !innerIds.has(link.target_id));
    const getInputType = ({ id: link, target_id }: Link) =>
      getNode(file, target_id)?.inputs?.find((slot) => slot.link === link)?.type ?? "*";
    const firstLinkId = getNextLinkId(file);
    const definition = {
      id: type,
      version: 1,
      name: "Part",
      inputs: incomingLinks.map((link, index) => ({ id: `i${index}`, name: `in ${index}`, type: getInputType(link), linkIds: [link.id] })),
      outputs: outgoingLinks.map((link, index) => ({ id: `o${index}`, name: `out ${index}`, type: link.type, linkIds: [link.id] })),
      nodes: file.nodes.filter((node) => innerIds.has(node.id)),
      links: [
        ...innerLinks,
        ...incomingLinks.map((link, index) => ({ ...link, origin_id: -10, origin_slot: index })),
        ...outgoingLinks.map((link, index) => ({ ...link, target_id: -20, target_slot: index })),
      ],
    };
    const subgraphNode: Node = {
      id,
      type,
      mode: 0,
      inputs: incomingLinks.map((link, index) => ({ name: `in ${index}`, type: getInputType(link), link: firstLinkId + index })),
      outputs: outgoingLinks.map((link, index) => ({ name: `out ${index}`, type: link.type, links: [link.id] })),
      widgets_values: [],
    };
    const outerLinks = file.links.filter((link) => !innerIds.has(link.origin_id) && !innerIds.has(link.target_id));
    const links = [
      ...outerLinks,
      ...incomingLinks.map((link, index) => ({ ...link, id: firstLinkId + index, target_id: id, target_slot: index })),
      ...outgoingLinks.map((link, index) => ({ ...link, origin_id: id, origin_slot: index })),
    ];
    const subgraphs = [...(file.definitions?.subgraphs ?? []), definition];
    const nodes = [...file.nodes.filter((node) => !innerIds.has(node.id)), subgraphNode];
    return {
      file: { ...file, nodes, links, definitions: { ...file.definitions, subgraphs } },
      getNewId: (oldId) => getNewId(oldId).replace(/^\d+/, (number) => (innerIds.has(Number(number)) ? `${id}:${number}` : number)),
    };
  },
};

const renameGraph = (graph: Record<string, { inputs: JsonObject }>, renamed: (id: string) => string) =>
  Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const inputs = Object.entries(node.inputs).map(([name, value]) => [name, isLink(value) ? [renamed(value[0]), value[1]] : value]);
      return [renamed(id), { ...node, inputs: Object.fromEntries(inputs) }];
    }),
  );
/** Another value of the same kind. */
const changeValue = (value: unknown) => (typeof value === "number" ? value + 1 : typeof value === "boolean" ? !value : `${String(value)}x`);

test("converts a mutated file to the same graph and saves one value in place", () => {
  const mutationSteps = fc.array(
    fc.record({ mutationName: fc.constantFrom(...Object.keys(mutations)), picks: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }) }),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), mutationSteps, fc.constantFrom(0.4, 1), fc.nat(), (name, steps, version, choice) => {
      const file = readFixture(`${name}.editor.json`);
      const initialPair: MutatedPair = { file: { ...file, links: toLinkObjects(file.links) }, getNewId: (id) => id };
      const mutated = steps.reduce((before, { mutationName, picks }) => {
        let pickIndex = 0;
        return mutations[mutationName]?.(before, (list) => list[(picks[pickIndex++ % picks.length] ?? 0) % (list.length || 1)]) ?? before;
      }, initialPair);
      const changedFile = toSchema(mutated.file, version);
      const { graph } = toApiWorkflow(changedFile, info, { fill: false });
      expect(readMatchingDrawing(changedFile, graph)).toBeDefined();
      expect(toComparable(toApiWorkflow(changedFile, info).graph, info)).toEqual(
        toComparable(renameGraph(readFixture(`${name}.api.json`), mutated.getNewId), info),
      );

      const values = Object.entries(graph).flatMap(([id, node]) =>
        Object.entries(node.inputs).flatMap(([input, value]) =>
          info[node.class_type] && typeof value !== "object" && !choiceInputs.test(input) ? [{ id, node, input, value }] : [],
        ),
      );
      const target = values[choice % (values.length || 1)];
      if (!target) return;
      const { id, node, input, value } = target;
      const expectedGraph = { ...graph, [id]: { ...node, inputs: { ...node.inputs, [input]: changeValue(value) } } };
      const writeResult = createEditableFile(changedFile, info).applyValues(expectedGraph);
      const writtenGraph = toApiWorkflow(writeResult.file, info, { fill: false }).graph;
      expect(writtenGraph[id]?.inputs[input]).toEqual(changeValue(value));
      const unplacedInputs = Object.keys(expectedGraph).flatMap((nodeId) =>
        Object.keys(writtenGraph[nodeId]?.inputs ?? {}).flatMap((value) =>
          JSON.stringify(writtenGraph[nodeId]?.inputs[value]) === JSON.stringify(expectedGraph[nodeId]?.inputs[value])
            ? []
            : [{ nodeId, input: value }],
        ),
      );
      expect(writeResult.findUnplacedValues()).toEqual(unplacedInputs);
    }),
    { numRuns: 60, seed: 20261123 },
  );
}, 120_000);
