import { writeExactJson } from "../json/exact-json";
import { asObject, asText } from "../json/json";
import { parseJson } from "../json/parse-json";
import { toPlainLine } from "../plain-line";

export type AuditTarget = { id: string; name?: string };

export const MAX_TARGETS = 100;
const TARGETS_PREFIX = "items=";
const OR_MORE = "or more";

/** `count`: the number of targets, including omitted ones. `isAtLeast`: there may have been more. */
export type TargetCount = { count?: number; isAtLeast?: boolean };

export function formatTargets(
  targets: readonly AuditTarget[],
  outcome: string | undefined,
  { count = targets.length, isAtLeast = false }: TargetCount = {},
): string | undefined {
  if (targets.length === 0) return outcome;
  const listedTargets = targets.slice(0, MAX_TARGETS).map(({ id, name }) => (name === undefined ? [id] : [id, name]));
  const omittedCount = count - listedTargets.length;
  // Normalized as in the log, so that the length matches the stored text.
  const text = toPlainLine(
    writeExactJson([...listedTargets, ...(isAtLeast ? [OR_MORE] : []), ...(omittedCount > 0 ? [omittedCount] : [])]),
  );
  return `${TARGETS_PREFIX}${text.length}:${text}${outcome === undefined ? "" : ` ${outcome}`}`;
}

type ParsedTarget = { targets: AuditTarget[]; omittedCount?: number; isAtLeast?: true; outcome?: string };

export function parseTargets(text: string | undefined): ParsedTarget {
  const [prefix, length] = /^items=(\d{1,6}):/.exec(text ?? "") ?? [];
  if (text === undefined || prefix === undefined) return { targets: [], ...(text !== undefined && { outcome: text }) };
  const end = prefix.length + Number(length);
  const outcome = text.slice(end + 1);
  // If the text is truncated or from another version, the entry still has the action and its actor.
  const parsed = parseJson(text.slice(prefix.length, end));
  const list: unknown[] = Array.isArray(parsed) ? parsed : [];
  const lastItem = list.at(-1);
  return {
    targets: list.flatMap(parseTarget),
    ...(typeof lastItem === "number" && { omittedCount: lastItem }),
    ...(list.includes(OR_MORE) && { isAtLeast: true }),
    ...(outcome && { outcome }),
  };
}

function parseTarget(value: unknown): AuditTarget[] {
  const [id, name]: unknown[] = Array.isArray(value) ? value : [];
  return typeof id === "string" ? [{ id, ...(typeof name === "string" && { name }) }] : [];
}

type AuditedRequest = { params?: Readonly<Record<string, string>>; json?: unknown };

export function getRequestedIds({ params, json }: AuditedRequest): string[] {
  const request = asObject(json);
  return toIds(request?.delete ?? request?.ids ?? request?.job_ids, params?.id);
}

export function getResponseIds(response: unknown): string[] {
  const fields = asObject(response);
  return toIds(fields?.deleted, asText(fields?.id));
}

function toIds(list: unknown, id: string | undefined): string[] {
  if (Array.isArray(list)) return list.filter((item) => typeof item === "string");
  return id === undefined ? [] : [id];
}

const actionFamilies: readonly (readonly string[])[] = [
  ["uploadAsset", "createAssetFromHash"],
  ["editAsset", "addTags", "removeTags"],
  ["cancelJobs", "manageQueue", "stopJobs", "cancelJob", "cancelOneJob"],
  ["manageHistory"],
  ["submitPrompt"],
  ["deleteAsset"],
  ["writeUserdata"],
  ["moveUserdata"],
  ["deleteUserdata"],
  ["downloadAsset"],
  ["cancelDownload"],
  ["retryDownload"],
  ["forgetDownload"],
];

export function findFamily(action: string): string | undefined {
  return actionFamilies.find((actions) => actions.includes(action))?.[0];
}
