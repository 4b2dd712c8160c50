import { writeExactJson } from "../json/exact-json";
import { objectOf, textOf } from "../json/json";
import { parseJson } from "../json/parse-json";
import { toPlainLine } from "../plain-line";

export type AuditThing = { id: string; name?: string };

export const MAX_THINGS = 100;
const HEAD = "items=";
const OR_MORE = "or more";

/** `count`: how many things there were, named or not; `isAtLeast`: there may have been more. */
export type ThingsCount = { count?: number; isAtLeast?: boolean };

export function writeThings(
  things: readonly AuditThing[],
  outcome: string | undefined,
  { count = things.length, isAtLeast = false }: ThingsCount = {},
): string | undefined {
  if (things.length === 0) return outcome;
  const listed = things.slice(0, MAX_THINGS).map(({ id, name }) => (name === undefined ? [id] : [id, name]));
  const more = count - listed.length;
  // Normalized like the log does, so that the stated length matches the stored text.
  const text = toPlainLine(writeExactJson([...listed, ...(isAtLeast ? [OR_MORE] : []), ...(more > 0 ? [more] : [])]));
  return `${HEAD}${text.length}:${text}${outcome === undefined ? "" : ` ${outcome}`}`;
}

type ParsedTarget = { things: AuditThing[]; more?: number; isAtLeast?: true; outcome?: string };

export function readThings(text: string | undefined): ParsedTarget {
  const [head, length] = /^items=(\d{1,6}):/.exec(text ?? "") ?? [];
  if (text === undefined || head === undefined) return { things: [], ...(text !== undefined && { outcome: text }) };
  const end = head.length + Number(length);
  const outcome = text.slice(end + 1);
  // If it is from another version, or cut, the entry still names the act and its actor.
  const parsed = parseJson(text.slice(head.length, end));
  const list: unknown[] = Array.isArray(parsed) ? parsed : [];
  const more = list.at(-1);
  return {
    things: list.flatMap(parseThing),
    ...(typeof more === "number" && { more }),
    ...(list.includes(OR_MORE) && { isAtLeast: true }),
    ...(outcome && { outcome }),
  };
}

function parseThing(value: unknown): AuditThing[] {
  const [id, name]: unknown[] = Array.isArray(value) ? value : [];
  return typeof id === "string" ? [{ id, ...(typeof name === "string" && { name }) }] : [];
}

type Request = { params?: Readonly<Record<string, string>>; json?: unknown };

export function requestedIds({ params, json }: Request): string[] {
  const request = objectOf(json);
  return idsIn(request?.delete ?? request?.ids ?? request?.job_ids, params?.id);
}

export function idsInResponse(response: unknown): string[] {
  const fields = objectOf(response);
  return idsIn(fields?.deleted, textOf(fields?.id));
}

function idsIn(list: unknown, id: string | undefined): string[] {
  if (Array.isArray(list)) return list.filter((item) => typeof item === "string");
  return id === undefined ? [] : [id];
}

const families: readonly (readonly string[])[] = [
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

export function familyOf(action: string): string | undefined {
  return families.find((actions) => actions.includes(action))?.[0];
}
