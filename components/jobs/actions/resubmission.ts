import { writeExactJson } from "@/lib/contract/json/exact-json";
import { unwrapWorkflow } from "@/lib/contract/workflow/read-workflow";
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { isLink } from "@/lib/contract/workflow/graph";
import { looseGraph } from "@/lib/contract/workflow/loose-graph";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { nodeName } from "@/lib/contract/workflow/loose-graph";

/** The inputs from which workflows take their randomness. */
const seedNames = new Set(["seed", "noise_seed"]);
/** A range that every node with a seed accepts. */
const SEEDS = 2 ** 32;

export type MaskedInput = { nodeId: string; node: string; input: string };
export type Submission = { prompt: Graph; extra_data?: JsonObject };
/** `masked`: the service kept no value for these inputs, so the workflow cannot run again as it is. */
export type Resubmission = { kind: "ready"; submission: Submission } | { kind: "masked"; inputs: MaskedInput[] } | { kind: "no-graph" };

/** What a job was made from, ready to be submitted again. A masked value is never sent: it would be taken for the secret. */
export function toResubmission(workflow: unknown, newSeed?: () => number): Resubmission {
  const read = unwrapWorkflow(workflow);
  if (!read) return { kind: "no-graph" };
  const inputs = maskedInputs(read.graph);
  if (inputs.length > 0) return { kind: "masked", inputs };
  const prompt = newSeed ? withNewSeeds(read.graph, newSeed) : read.graph;
  const extraData = read.extraData && withoutMasked(read.extraData);
  return { kind: "ready", submission: { prompt, ...(isObject(extraData) && { extra_data: extraData }) } };
}

export function someSeed(): number {
  const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
  return seed % SEEDS;
}

/** A seed that is a literal number; a seed that comes over a link changes at the other node. */
function isSeed(name: string, value: unknown): boolean {
  return seedNames.has(name) && (Number.isInteger(value) || typeof value === "bigint");
}

function withNewSeeds(graph: Graph, newSeed: () => number): Graph {
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const inputs = Object.entries(node.inputs).map(([name, value]) => [name, isSeed(name, value) ? newSeed() : value] as const);
      return [id, { ...node, inputs: Object.fromEntries(inputs) }];
    }),
  );
}

export function countSeeds(workflow: JsonObject): number {
  const inputs = Object.values(looseGraph(workflow) ?? {}).flatMap((node) => Object.entries(node.inputs ?? {}));
  return inputs.filter(([name, value]) => isSeed(name, value)).length;
}

function maskedInputs(graph: Graph): MaskedInput[] {
  return Object.entries(graph).flatMap(([nodeId, node]) =>
    Object.entries(node.inputs).flatMap(([input, value]) =>
      !isLink(value) && writeExactJson(value).includes(MASK) ? [{ nodeId, node: nodeName(node), input }] : [],
    ),
  );
}

/** For data that only accompanies the run: masked entries are left out of objects, and emptied in lists, where positions matter. */
function withoutMasked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (isMasked(item) ? "" : withoutMasked(item)));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, item]) => (isMasked(item) ? [] : [[name, withoutMasked(item)]])));
}

function isMasked(value: unknown): boolean {
  return typeof value === "string" && value.includes(MASK);
}
