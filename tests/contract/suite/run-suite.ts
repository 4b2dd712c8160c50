// Runs the steps in order and reports the deployment's result for every operation.
import { type Operation } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { assetCleaningSteps, assetWriteSteps } from "./asset-writes";
import { createCaller, type Target } from "./caller";
import { extensionReadSteps } from "./extension-reads";
import { jobCleaningSteps, jobWriteSteps } from "./job-writes";
import { readSteps } from "./reads";
import { createTools, type Step, type SuiteOptions } from "./steps";
import { userdataWriteSteps } from "./userdata-writes";
import { Absent, Differs, NotTried } from "./verdict";

export type Outcome = "ok" | "differs" | "absent" | "not tried";
export type Row = { operation: string; tier: "core" | "extension"; name: string; outcome: Outcome; notes: string[] };

// Writes first, so that the reads find something to read.
const steps: readonly Step[] = [
  ...assetWriteSteps,
  ...jobWriteSteps,
  ...readSteps,
  ...userdataWriteSteps.slice(0, 2),
  ...extensionReadSteps,
  ...userdataWriteSteps.slice(2),
  ...jobCleaningSteps,
  ...assetCleaningSteps,
];

export async function runSuite(target: Target, options: SuiteOptions): Promise<Row[]> {
  const tools = createTools(createCaller(target), options);
  const resultsByName = new Map<string, { outcome: Outcome; note?: string }[]>();
  for (const step of steps.filter(({ writes }) => options.write || !writes)) {
    const result = await settle(() => step.run(tools));
    const { name } = step.operation;
    resultsByName.set(name, [...(resultsByName.get(name) ?? []), { ...result, note: result.note?.replaceAll(target.key, "[key]") }]);
  }
  return allOperations.map((operation) => toRow(operation, resultsByName.get(operation.name) ?? [], options.write));
}

/** Every core operation that was tried is present and conforms. */
export function conforms(rows: readonly Row[]): boolean {
  return rows.every(({ tier, outcome }) => tier !== "core" || (outcome !== "differs" && outcome !== "absent"));
}

async function settle(run: () => Promise<string | void>): Promise<{ outcome: Outcome; note?: string }> {
  try {
    const note = await run();
    return { outcome: "ok", ...(note && { note }) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof Absent) return { outcome: "absent", note: error.message };
    if (error instanceof NotTried) return { outcome: "not tried", note: error.message };
    if (error instanceof Differs) return { outcome: "differs", note: error.message };
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
    return { outcome: "differs", note: `no answer: ${error.message}${cause}` };
  }
}

const order: readonly Outcome[] = ["differs", "absent", "ok", "not tried"];

function toRow(operation: Operation, results: readonly { outcome: Outcome; note?: string }[], write: boolean): Row {
  const outcome = order.find((outcome) => results.some((result) => result.outcome === outcome)) ?? "not tried";
  const notes = results.filter((result) => result.outcome === outcome).flatMap(({ note }) => note ?? []);
  if (results.length === 0) notes.push(write ? "the suite has no step for it" : "it changes something; needs --write");
  return {
    operation: `${operation.method} ${operation.path}`,
    tier: operation.tier,
    name: operation.name,
    outcome,
    notes: [...new Set(notes)],
  };
}
