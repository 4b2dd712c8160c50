// What a workflow is called by its file. Pure.
// Guarantees: letters, signs and spaces within stay as they are.

import { mayCarryWorkflow } from "@/lib/contract/views/media-kind";

/** Without folders and extension. */
export function nameOfFile(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return (mayCarryWorkflow(name) ? name.slice(0, name.lastIndexOf(".")) : name).trim();
}
