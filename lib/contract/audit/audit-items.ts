// The things that one entry of the audit log is about, as text at the head of its outcome: an entry holds no other place for them.
// Guarantees: bounded; what was written is read again, and any other text is read as an outcome without things.

import { writeExactJson } from "../json/exact-json";
import { objectOf, textOf } from "../json/json";
import { toPlainLine } from "../plain-line";

export type AuditThing = { id: string; name?: string };

/** As many as one request of the console's own pages names. */
const MOST = 100;
const HEAD = "items=";

export function writeThings(things: readonly AuditThing[], outcome: string | undefined): string | undefined {
  if (things.length === 0) return outcome;
  // Plain as the log keeps it, or the text would not be as long as it says.
  const text = toPlainLine(writeExactJson(things.slice(0, MOST).map(({ id, name }) => (name === undefined ? [id] : [id, name]))));
  return `${HEAD}${text.length}:${text}${outcome === undefined ? "" : ` ${outcome}`}`;
}

export function readThings(written: string | undefined): { things: AuditThing[]; outcome?: string } {
  const [head, length] = /^items=(\d{1,6}):/.exec(written ?? "") ?? [];
  if (written === undefined || head === undefined) return { things: [], ...(written !== undefined && { outcome: written }) };
  const end = head.length + Number(length);
  const outcome = written.slice(end + 1);
  return { things: parsed(written.slice(head.length, end)), ...(outcome && { outcome }) };
}

function parsed(text: string): AuditThing[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return []; // of another version, or cut: the entry still says who did what
  }
  return (Array.isArray(list) ? list : []).flatMap((each: unknown) => {
    const [id, name]: unknown[] = Array.isArray(each) ? each : [];
    return typeof id === "string" ? [{ id, ...(typeof name === "string" && { name }) }] : [];
  });
}

type Request = { params?: Readonly<Record<string, string>>; json?: unknown };

/** What a request to the service named, in its body or in its path; else what the answer says that it made, or took away. */
export function thingsNamed({ params, json }: Request, answer: unknown): string[] {
  const asked = objectOf(json);
  const told = objectOf(answer);
  const listed = asked?.delete ?? asked?.ids ?? asked?.job_ids ?? told?.deleted;
  if (Array.isArray(listed)) return listed.filter((id) => typeof id === "string");
  const id = params?.id ?? textOf(told?.id);
  return id === undefined ? [] : [id];
}
