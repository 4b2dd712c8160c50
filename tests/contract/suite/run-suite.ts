// Runs the steps in order and reports the deployment's result for every operation.
import { type Operation } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { assetCleanupSteps, assetWriteSteps } from "./asset-writes";
import { createCaller, type Target } from "./caller";
import { extensionReadSteps } from "./extension-reads";
import { jobCleanupSteps, jobWriteSteps } from "./job-writes";
import { readSteps } from "./reads";
import { createTools, type Step, type SuiteOptions } from "./steps";
import { userdataWriteSteps } from "./userdata-writes";
import { AbsentError, DifferenceError, NotTriedError } from "./verdict";

export type Outcome = "ok" | "differs" | "absent" | "not tried";
export type Row = { operation: string; tier: "core" | "extension"; name: string; outcome: Outcome; notes: string[] };

// Writes come first, so that the reads have something to read.
const steps: readonly Step[] = [
  ...assetWriteSteps,
  ...jobWriteSteps,
  ...readSteps,
  ...userdataWriteSteps.slice(0, 2),
  ...extensionReadSteps,
  ...userdataWriteSteps.slice(2),
  ...jobCleanupSteps,
  ...assetCleanupSteps,
];

export async function runSuite(target: Target, options: SuiteOptions): Promise<Row[]> {
  const tools = createTools(createCaller(target), options);
  const resultsByName = new Map<string, { outcome: Outcome; note?: string }[]>();
  for (const step of steps.filter(({ writes }) => options.write || !writes)) {
    const result = await runStep(() => step.run(tools));
    const { name } = step.operation;
    resultsByName.set(name, [...(resultsByName.get(name) ?? []), { ...result, note: result.note?.replaceAll(target.key, "[key]") }]);
  }
  return allOperations.map((operation) => toRow(operation, resultsByName.get(operation.name) ?? [], options.write));
}

/** Returns true if every tested core operation is present and conforms. */
export function isConforming(rows: readonly Row[]): boolean {
  return rows.every(({ tier, outcome }) => tier !== "core" || (outcome !== "differs" && outcome !== "absent"));
}

async function runStep(run: () => Promise<string | void>): Promise<{ outcome: Outcome; note?: string }> {
  try {
    const note = await run();
    return { outcome: "ok", ...(note && { note }) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof AbsentError) return { outcome: "absent", note: error.message };
    if (error instanceof NotTriedError) return { outcome: "not tried", note: error.message };
    if (error instanceof DifferenceError) return { outcome: "differs", note: error.message };
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
    return { outcome: "differs", note: `no answer: ${error.message}${cause}` };
  }
}

const OUTCOME_PRIORITY: readonly Outcome[] = ["differs", "absent", "ok", "not tried"];

function toRow(operation: Operation, results: readonly { outcome: Outcome; note?: string }[], write: boolean): Row {
  const outcome = OUTCOME_PRIORITY.find((outcome) => results.some((result) => result.outcome === outcome)) ?? "not tried";
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
