// What of the console a token can be used for: the interface's operations, and these of the console's own resources.
// Guarantees: what is not named here is for people: tokens, members, keys of connections, accounts, sessions, shares, embedding, saved views.
// Must never: hold an act that gives rights to somebody, or takes a stored key anywhere.

import "server-only";
import { isRead } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { EVENTS } from "@/lib/contract/token-choices";
import { type TokenOperations } from "@/lib/contract/tokens";

/** Every token may learn what there is, and that there is nothing at an address. */
const always = ["unknown", "readOpenApi", "listConnections"];

const consoleReads = [
  "searchJobs",
  "exportJobs",
  "viewQueue",
  "viewCapabilities",
  "viewMaskLayer",
  "thumbnail",
  "listWorkflows",
  "listRunsByDay",
  "listLackingClasses",
  "listDownloads",
  "readSubmission",
  "chooseArchive",
  "fetchArchive",
  "listAudit",
  "exportAudit",
];
const consoleActs = ["stopJobs", "cancelDownload", "retryDownload", "forgetDownload"];

const reads = [...always, ...consoleReads, EVENTS, ...allOperations.filter(isRead).map(({ name }) => name)];
const all = [...new Set([...reads, ...consoleActs, ...allOperations.map(({ name }) => name)])];

/** Names of operations and acts, as routes have them. */
export function operationsOf(operations: TokenOperations): readonly string[] {
  if (operations === "all") return all;
  return operations === "reads" ? reads : [...always, ...operations];
}

const choosable = new Set([EVENTS, ...allOperations.map(({ name }) => name)]);

export function mayBeChosen(operation: string): boolean {
  return choosable.has(operation);
}
