// A workflow's name from its file name. Pure.
// Guarantees: letters, punctuation and inner spaces are kept.

import { mayCarryWorkflow } from "@/lib/contract/views/outputs-view";

/** Without folders and extension. */
export function nameOfFile(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return (mayCarryWorkflow(name) ? name.slice(0, name.lastIndexOf(".")) : name).trim();
}
