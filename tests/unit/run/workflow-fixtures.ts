import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

export function readSampleText(name: string): string {
  return readFileSync(join(process.cwd(), "public", "samples", `${name}.json`), "utf8");
}

export function readSampleGraph(name: string): Graph {
  const graph: Graph = JSON.parse(readSampleText(name));
  return graph;
}

/** Reads the node descriptions recorded from a real server. */
export function readCatalogueFixture(): ObjectInfo {
  const info: ObjectInfo = JSON.parse(readGoldenFile("object-info.json"));
  return info;
}

type RecordedRefusal = { prompt: Graph; answer: { error: Record<string, unknown> } };
/** Reads the recorded responses of a real server to invalid graphs, by name. */
export function readRecordedRefusals(): Record<string, RecordedRefusal> {
  const refusalsByName: Record<string, RecordedRefusal> = JSON.parse(readGoldenFile("refusals.json"));
  return refusalsByName;
}

function readGoldenFile(name: string): string {
  return readFileSync(join(process.cwd(), "tests", "fixtures", "golden", name), "utf8");
}
