import { copySpellings } from "@/lib/contract/json/exact-json";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { isMasked, removeMasks } from "@/lib/contract/secrets/secret-texts";
import { getNodeName, isLink, isSeedName, readLooseGraph } from "@/lib/contract/workflow/graph";
import { unwrapWorkflow } from "@/lib/contract/workflow/read-workflow";

export type MaskedInput = { nodeId: string; node: string; input: string };
export type Submission = { prompt: Graph; extra_data?: JsonObject };
/** `masked`: inputs without a stored value, so the workflow can't be rerun as it is. */
export type Resubmission = { kind: "ready"; submission: Submission } | { kind: "masked"; inputs: MaskedInput[] } | { kind: "no-graph" };

/** Prepares a job's workflow for resubmission. A masked value is never sent, since the service would use it as the secret. */
export function buildResubmission(workflow: unknown, createSeed?: () => number): Resubmission {
  const unwrapped = unwrapWorkflow(workflow);
  if (!unwrapped) return { kind: "no-graph" };
  const inputs = findMaskedInputs(unwrapped.graph);
  if (inputs.length > 0) return { kind: "masked", inputs };
  const prompt = createSeed ? withNewSeeds(unwrapped.graph, createSeed) : unwrapped.graph;
  return { kind: "ready", submission: { prompt, ...(unwrapped.extraData && { extra_data: removeMasks(unwrapped.extraData) }) } };
}

export function createRandomSeed(): number {
  const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
  return seed;
}

/** Returns true for a literal number. A linked seed is changed at its source node. */
function isSeed(name: string, value: unknown): boolean {
  return isSeedName(name) && (Number.isInteger(value) || typeof value === "bigint");
}

function withNewSeeds(graph: Graph, createSeed: () => number): Graph {
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const inputs = Object.entries(node.inputs).map(([name, value]) => [name, isSeed(name, value) ? createSeed() : value] as const);
      return [id, { ...node, inputs: copySpellings(node.inputs, Object.fromEntries(inputs)) }];
    }),
  );
}

export function countSeeds(workflow: JsonObject): number {
  const inputs = Object.values(readLooseGraph(workflow) ?? {}).flatMap((node) => Object.entries(node.inputs ?? {}));
  return inputs.filter(([name, value]) => isSeed(name, value)).length;
}

function findMaskedInputs(graph: Graph): MaskedInput[] {
  return Object.entries(graph).flatMap(([nodeId, node]) =>
    Object.entries(node.inputs).flatMap(([input, value]) =>
      !isLink(value) && isMasked(value) ? [{ nodeId, node: getNodeName(node), input }] : [],
    ),
  );
}
