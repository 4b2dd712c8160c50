// What is checked before a graph is queued.

import { type Graph } from "@/lib/contract/schemas/graph";
import { type NodeErrors } from "@/lib/contract/schemas/node-errors";

export type PromptError = { type: string; message: string; details: string; extra_info: Record<string, unknown> };

export type Validation =
  | { ok: true; graph: Graph; outputs: string[]; nodeErrors: NodeErrors; images: string[] }
  | { ok: false; error: PromptError; nodeErrors: NodeErrors };

export function validatePrompt(
  _prompt: Record<string, unknown>,
  _options: { targets?: readonly string[]; hasImage: (name: string) => boolean },
): Validation {
  throw new Error("not built yet");
}
