// What a token and a frame can be used for in the console: the interface's operations, and the listed ones of the console's own resources.
// Guarantees: everything not listed is for people in the console itself: tokens, members, keys of connections, accounts, sessions, shares, embedding,
// runners, saved views.
// Must never: contain an act that gives rights, or that sends a stored key to another address.

import "server-only";
import { isRead } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { APPS, EVENTS } from "@/lib/contract/people/sign-in";
import { type TokenOperations } from "@/lib/contract/people/tokens";

/** Every token may list connections, read the interface's description, and get a 404 for an address that does not exist. */
const always = ["unknown", "readOpenApi", "listConnections"];

const consoleReads = [
  "searchJobs",
  "exportJobs",
  "viewQueue",
  "readLanded",
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
/** The inside of an app is not needed to run it. */
const insideApps = ["readAppWorkflow", "exportApp", "listAppVersions"];
const appReads = [
  "listApps",
  "readApp",
  "listAppPresets",
  "viewAppCover",
  "viewAppFile",
  "listAppPictures",
  "readAppOpenApi",
  "listAppRuns",
  "readAppRun",
  "viewAppResult",
];
/** Making and changing apps is for people. */
const appActs = ["addAppFile", "addAppMask", "runApp", "cancelAppRun"];

const reads = [...always, ...consoleReads, ...appReads, ...insideApps, EVENTS, ...allOperations.filter(isRead).map(({ name }) => name)];
const all = [...new Set([...reads, ...consoleActs, ...appActs, ...allOperations.map(({ name }) => name)])];

/** What a member can do in a frame besides a token's operations: all but the member's account and what requires a recent sign-in. */
export const embedOperations: readonly string[] = [
  ...all,
  ...["embedLook", "endEmbedSession"],
  ...["createApp", "importApp", "changeApp", "removeApp", "restoreApp", "favourApp", "listAppPeople"],
  ...["addAppPreset", "changeAppPreset", "removeAppPreset"],
  ...["listSavedViews", "createSavedView", "changeSavedView", "removeSavedView"],
  ...["checkConnection", "useConnection", "takeJobsView"],
  ...["listMembers", "listInvitations", "withdrawInvitation", "listRunners", "readUsage", "exportUsage"],
];

/** Names of operations and acts, as routes use them. */
export function operationsOf(operations: TokenOperations): readonly string[] {
  if (operations === "all") return all;
  if (operations === "reads") return reads;
  return [...always, ...operations, ...(operations.includes(APPS) ? [...appReads, ...appActs] : [])];
}

const choosable = new Set([EVENTS, APPS, ...allOperations.map(({ name }) => name)]);

export function mayBeChosen(operation: string): boolean {
  return choosable.has(operation);
}
