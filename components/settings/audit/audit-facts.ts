import { withQuery } from "@/lib/browser/urls";
import { type AuditItem, type AuditPart } from "@/lib/contract/audit/audit";
import { namelessWorkflow } from "@/lib/contract/workflow/workflow-name";

/** What the log calls a thing, and what people call it. */
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

/** A value may hold spaces, as names of files do: it ends where the next known name begins. */
const beginnings = new RegExp(`(?:^| )(${Object.keys(words).join("|")})=`, "g");
const aboutAssets = new Set(["uploadAsset", "createAssetFromHash", "editAsset", "deleteAsset", "addTags", "removeTags"]);
const aboutJobs = new Set(["submitPrompt", "cancelJob", "cancelJobs", "cancelOneJob", "stopJobs", "manageQueue", "manageHistory"]);

/** What came of an act, thing by thing; undefined where the log has words of its own. */
export function factsOf({ action, outcome = "", connection }: AuditItem): AuditFact[] | undefined {
  const found = [...outcome.matchAll(beginnings)];
  if (found[0]?.index !== 0) return undefined;
  return found.flatMap((match, at) => {
    const name = match[1];
    if (!isWritten(name)) return [];
    const value = outcome.slice(match.index + match[0].length, found[at + 1]?.index);
    // Done says the same.
    if (name === "code" && value === "OK") return [];
    // A file that is called by its hash has no name that says anything.
    if (name === "name" && /^[0-9a-f]{64}(\.\w+)?$/.test(value)) return [];
    const word = name === "id" && aboutAssets.has(action) ? "asset" : words[name];
    return [{ word, value, ...(isAnswer(value) && { answer: answers[value] }), href: pageOf(word, value, connection) }];
  });
}

/** What lists call it; `short`: the beginning of its id beside its name, where it has both. */
export function partWords({ action }: AuditItem, { id, name }: Pick<AuditPart, "id" | "name">): { text: string; short?: string } {
  if (isCount(action, id)) return { text: id };
  if (name === undefined || name === id) return { text: aboutJobs.has(action) ? namelessWorkflow(id) : id };
  return { text: name, ...((aboutJobs.has(action) || aboutAssets.has(action)) && { short: id.slice(0, 8) }) };
}

/** The page of what was acted on; a deleted one has none. */
export function targetHref({ action, target, status, connection }: AuditItem): string | undefined {
  if (target === undefined || isCount(action, target) || (action === "deleteAsset" && status < 400) || status === 404) return undefined;
  return pageOf(aboutJobs.has(action) ? "job" : aboutAssets.has(action) ? "asset" : "id", target, connection);
}

/** Entries of jobs that were stopped together had no ids once. */
const isCount = (action: string, target: string): boolean => action === "stopJobs" && /^\d+ jobs$/.test(target);

/** Without a name the connection is gone, or another person's: its pages do not open here. */
function pageOf(word: AuditFact["word"], id: string, connection: AuditItem["connection"]): string | undefined {
  if (connection?.name === undefined || (word !== "job" && word !== "asset")) return undefined;
  return withQuery(`/${word === "job" ? "jobs" : "assets"}/${encodeURIComponent(id)}`, { connection: connection.id });
}

const isWritten = (name: string | undefined): name is Written => name !== undefined && Object.hasOwn(words, name);
const isAnswer = (value: string): value is keyof typeof answers => Object.hasOwn(answers, value);
