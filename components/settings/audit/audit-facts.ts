import { shortId, withQuery } from "@/lib/browser/urls";
import { type AuditItem, type AuditPart, type AuditQuery } from "@/lib/contract/audit/audit";
import { formatNamelessWorkflow } from "@/lib/contract/workflow/workflow-name";

/** The log's words, and the names shown to people. */
const words = {
  id: "id",
  prompt_id: "job",
  task_id: "task",
  name: "name",
  path: "file",
  code: "code",
  cleared: "cleared",
  created_new: "isNew",
  deleted: "deleted",
  added: "added",
  removed: "removed",
  cancelled: "cancelled",
  stopped: "stopped",
  stopping: "stopping",
} as const;
const answers = { true: "yes", false: "no" } as const;

type Written = keyof typeof words;
export type AuditFact = { word: (typeof words)[Written] | "asset"; value: string; answer?: "yes" | "no"; href?: string };

/** A value may contain spaces, as in file names: it ends where the next known word begins. */
const beginnings = new RegExp(`(?:^| )(${Object.keys(words).join("|")})=`, "g");
const aboutAssets = new Set(["uploadAsset", "createAssetFromHash", "editAsset", "deleteAsset", "addTags", "removeTags"]);
const aboutJobs = new Set(["submitPrompt", "cancelJob", "cancelJobs", "cancelOneJob", "stopJobs", "manageQueue", "manageHistory"]);

/** The outcome of an action as single facts; undefined if the log has a sentence instead. */
export function factsOf({ action, outcome = "", connection }: AuditItem): AuditFact[] | undefined {
  const matches = [...outcome.matchAll(beginnings)];
  if (matches[0]?.index !== 0) return undefined;
  return matches.flatMap((match, at) => {
    const name = match[1];
    if (!isWritten(name)) return [];
    const value = outcome.slice(match.index + match[0].length, matches[at + 1]?.index);
    // The status "done" already implies it.
    if (name === "code" && value === "OK") return [];
    // A name that is a hash is useless to people.
    if (name === "name" && /^[0-9a-f]{64}(\.\w+)?$/.test(value)) return [];
    const word = name === "id" && aboutAssets.has(action) ? "asset" : words[name];
    return [{ word, value, ...(isAnswer(value) && { answer: answers[value] }), href: pageOf(word, value, connection) }];
  });
}

/** The name as in lists; `short`: the beginning of the id, shown next to a name. */
export function partWords({ action }: AuditItem, { id, name }: Pick<AuditPart, "id" | "name">): { text: string; short?: string } {
  if (isCount(action, id)) return { text: id };
  if (name === undefined || name === id) return { text: aboutJobs.has(action) ? formatNamelessWorkflow(id) : id };
  return { text: name, ...((aboutJobs.has(action) || aboutAssets.has(action)) && { short: shortId(id) }) };
}

/** The page of the changed object; a deleted one has none. */
export function targetHref({ action, target, status, connection }: AuditItem): string | undefined {
  if (target === undefined || isCount(action, target) || (action === "deleteAsset" && status < 400) || status === 404) return undefined;
  return pageOf(aboutJobs.has(action) ? "job" : aboutAssets.has(action) ? "asset" : "id", target, connection);
}

/** Earlier versions logged jobs that were stopped together as a number, without ids. */
const isCount = (action: string, target: string): boolean => action === "stopJobs" && /^\d+ jobs$/.test(target);

/** A connection without a name is deleted or another member's: its pages do not open here. */
function pageOf(word: AuditFact["word"], id: string, connection: AuditItem["connection"]): string | undefined {
  if (connection?.name === undefined || (word !== "job" && word !== "asset")) return undefined;
  return withQuery(`/${word === "job" ? "jobs" : "assets"}/${encodeURIComponent(id)}`, { connection: connection.id });
}

const isWritten = (name: string | undefined): name is Written => name !== undefined && Object.hasOwn(words, name);
const isAnswer = (value: string): value is keyof typeof answers => Object.hasOwn(answers, value);

export type AuditView = Pick<AuditQuery, "member" | "action" | "on" | "within" | "before" | "upTo">;

/** The address of a page of the log; it includes the filters, and can be shared. */
export function auditAddress({ member, action, on, within, before, upTo }: AuditView): `/${string}` {
  return withQuery("/settings/audit", { member, action, on, within, before, upTo });
}

export function auditFile({ member, action, on, within }: AuditView): `/${string}` {
  return withQuery("/api/console/audit/export", { member, action, on, within });
}
