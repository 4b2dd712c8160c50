import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

export function sampleText(name: string): string {
  return readFileSync(join(process.cwd(), "public", "samples", `${name}.json`), "utf8");
}

export function sampleGraph(name: string): Graph {
  const graph: Graph = JSON.parse(sampleText(name));
  return graph;
}

/** A real server's description of its nodes. */
export function catalogue(): ObjectInfo {
  const info: ObjectInfo = JSON.parse(golden("object-info.json"));
  return info;
}

type Refusal = { prompt: Graph; answer: { error: Record<string, unknown> } };
/** A real server's responses to bad graphs, by name. */
export function refusals(): Record<string, Refusal> {
  const all: Record<string, Refusal> = JSON.parse(golden("refusals.json"));
  return all;
}

function golden(name: string): string {
  return readFileSync(join(process.cwd(), "tests", "fixtures", "golden", name), "utf8");
}
