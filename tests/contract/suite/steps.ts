// A step of the suite: tests one aspect of one operation with results of earlier steps.
import { asNumber, asText, isObject, type JsonObject } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { type Caller, type CallInput } from "./caller";
import { NotTried, read } from "./verdict";

/** Results of earlier steps. */
export type Known = {
  jobId?: string;
  /** The id of an ended job. */
  endedJobId?: string;
  asset?: JsonObject;
  userFile?: string;
  /** Created by this run. */
  own: { asset?: JsonObject; imageName?: string; maskName?: string; jobId?: string; taskId?: string; userFile?: string };
};

export type SuiteOptions = {
  /** Allows steps that create jobs, assets, tags and files and remove what they can. */
  write: boolean;
  /** Also allows interrupts, which may stop other jobs of the user. */
  interrupt: boolean;
  /** A small file on a host that the service may fetch from. */
  sourceUrl?: string;
  /** The time limit for a job or a download of the suite. */
  waitMs: number;
};

export type Tools = {
  call: Caller;
  state: Known;
  options: SuiteOptions;
  /** Calls the operation and parses the response like the contract. */
  ask(operation: Operation, input?: CallInput): Promise<unknown>;
};

export type Step = { operation: Operation; writes?: true; run(tools: Tools): Promise<string | void> };

export function createTools(call: Caller, options: SuiteOptions): Tools {
  return { call, options, state: { own: {} }, ask: async (operation, input) => read(operation, await call(operation, input)) };
}

export const LABEL = "lightdesk-conformance";
export const UNKNOWN_ID = "00000000-0000-4000-8000-000000000000";
/** Other services may answer "forbidden" for an unknown id. */
export const UNKNOWN = [404, 403, 400] as const;

export function getItems(value: unknown, name: string): JsonObject[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}
export function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
export const text = (value: unknown, name: string): string | undefined => asText(field(value, name));
export const number = (value: unknown, name: string): number | undefined => asNumber(field(value, name));

export function needed<T>(value: T | undefined, label: string): T {
  if (value === undefined) throw new NotTried(`there is no ${label} to try it on`);
  return value;
}

/** Repeats the call until `isOver`, for at most `waitMs`. */
export async function poll(tools: Tools, operation: Operation, input: CallInput, isOver: (value: unknown) => boolean): Promise<unknown> {
  const end = Date.now() + tools.options.waitMs;
  for (;;) {
    const value = await tools.ask(operation, input);
    if (isOver(value)) return value;
    if (Date.now() > end) throw new NotTried(`it had not ended after ${tools.options.waitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
