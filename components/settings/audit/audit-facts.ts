import { shortId, withQuery } from "@/lib/browser/urls";
import { type AuditItem, type AuditPart, type AuditQuery } from "@/lib/contract/audit/audit";
import { formatNamelessWorkflow } from "@/lib/contract/workflow/workflow-name";

/** The log's keys, and the message keys of their names. */
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
const booleanAnswers = { true: "yes", false: "no" } as const;

type LogKey = keyof typeof words;
export type AuditFact = { word: (typeof words)[LogKey] | "asset"; value: string; answer?: "yes" | "no"; href?: string };

/** A value may contain spaces, so it ends at the next known key. */
const keyPattern = new RegExp(`(?:^| )(${Object.keys(words).join("|")})=`, "g");
const assetActions = new Set(["uploadAsset", "createAssetFromHash", "editAsset", "deleteAsset", "addTags", "removeTags"]);
const jobActions = new Set(["submitPrompt", "cancelJob", "cancelJobs", "cancelOneJob", "stopJobs", "manageQueue", "manageHistory"]);

/** Parses the outcome of an action into facts; undefined if the outcome is free text. */
export function parseFacts({ action, outcome = "", connection }: AuditItem): AuditFact[] | undefined {
  const matches = [...outcome.matchAll(keyPattern)];
  if (matches[0]?.index !== 0) return undefined;
  return matches.flatMap((match, at) => {
    const name = match[1];
    if (!isLogKey(name)) return [];
    const value = outcome.slice(match.index + match[0].length, matches[at + 1]?.index);
    // The status "done" already implies it.
    if (name === "code" && value === "OK") return [];
    // A hash is not a useful name.
    if (name === "name" && /^[0-9a-f]{64}(\.\w+)?$/.test(value)) return [];
    const word = name === "id" && assetActions.has(action) ? "asset" : words[name];
    return [{ word, value, ...(isAnswer(value) && { answer: booleanAnswers[value] }), href: getPageHref(word, value, connection) }];
  });
}

/** The text to show; `short`: the beginning of the id, shown next to a name. */
export function getPartText({ action }: AuditItem, { id, name }: Pick<AuditPart, "id" | "name">): { text: string; short?: string } {
  if (isCount(action, id)) return { text: id };
  if (name === undefined || name === id) return { text: jobActions.has(action) ? formatNamelessWorkflow(id) : id };
  return { text: name, ...((jobActions.has(action) || assetActions.has(action)) && { short: shortId(id) }) };
}

/** The page of the changed object; undefined if it was deleted. */
export function targetHref({ action, target, status, connection }: AuditItem): string | undefined {
  if (target === undefined || isCount(action, target) || (action === "deleteAsset" && status < 400) || status === 404) return undefined;
  return getPageHref(jobActions.has(action) ? "job" : assetActions.has(action) ? "asset" : "id", target, connection);
}

/** Earlier versions logged jobs that were stopped together as a number, without ids. */
const isCount = (action: string, target: string): boolean => action === "stopJobs" && /^\d+ jobs$/.test(target);

/** A connection without a name is deleted or belongs to another member, so its pages can't be opened. */
function getPageHref(word: AuditFact["word"], id: string, connection: AuditItem["connection"]): string | undefined {
  if (connection?.name === undefined || (word !== "job" && word !== "asset")) return undefined;
  return withQuery(`/${word === "job" ? "jobs" : "assets"}/${encodeURIComponent(id)}`, { connection: connection.id });
}

const isLogKey = (name: string | undefined): name is LogKey => name !== undefined && Object.hasOwn(words, name);
const isAnswer = (value: string): value is keyof typeof booleanAnswers => Object.hasOwn(booleanAnswers, value);

export type AuditView = Pick<AuditQuery, "member" | "action" | "on" | "within" | "before" | "upTo">;

/** The URL of a page of the log, with its filters. */
export function auditHref({ member, action, on, within, before, upTo }: AuditView): `/${string}` {
  return withQuery("/settings/audit", { member, action, on, within, before, upTo });
}

export function auditFileHref({ member, action, on, within }: AuditView): `/${string}` {
  return withQuery("/api/console/audit/export", { member, action, on, within });
}
