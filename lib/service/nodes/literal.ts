// Literals as the nodes want them: numbers may come as text, truths as numbers. What cannot be read says why.
// The same reading serves the check before queueing and the run itself.

import { type Result, failed, ok } from "@/lib/shared/result";
import { type InputField } from "./definition";
import { type NodeValue } from "./values";

export type Literal = Result<NodeValue, string>;

export function readLiteral(type: string, value: unknown): Literal {
  if (type === "INT") return readInt(value);
  if (type === "FLOAT") return readFloat(value);
  if (type === "BOOLEAN") return readBoolean(value);
  if (type === "STRING") return ok(toText(value));
  if (type === "COMBO") return typeof value === "string" ? ok(value) : ok(toText(value));
  if (type === "*") return ok(typeof value === "number" || typeof value === "boolean" ? value : toText(value, 4));
  return failed(`${quoted(value)} is a literal, and ${type} comes only along a link from another node`);
}

function readInt(value: unknown): Literal {
  const number = toNumber(value, /^\s*[+-]?\d+\s*$/);
  return number === undefined ? failed(`${quoted(value)} is not a whole number`) : ok(Math.trunc(number));
}

function readFloat(value: unknown): Literal {
  const number = toNumber(value, /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/);
  return number === undefined ? failed(`${quoted(value)} is not a number`) : ok(number);
}

function toNumber(value: unknown, texts: RegExp): number | undefined {
  if (typeof value === "boolean") return Number(value);
  const number = typeof value === "string" && texts.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

function readBoolean(value: unknown): Literal {
  if (typeof value === "boolean") return ok(value);
  if (typeof value === "number" || value === null) return ok(Boolean(value));
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  return word === "true" || word === "false" ? ok(word === "true") : failed(`${quoted(value)} is neither true nor false`);
}

/** Truths and nothing in the family's words. */
function toText(value: unknown, indent?: number): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return writeTruth(value);
  return value === null || value === undefined ? "None" : JSON.stringify(value, null, indent);
}

export function writeTruth(value: boolean): string {
  return value ? "True" : "False";
}

export function quoted(value: unknown): string {
  const text = typeof value === "string" ? `'${value}'` : (JSON.stringify(value) ?? "nothing");
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** How a number of that type is written: a FLOAT has its point, and an exponent of two digits below 0.0001 and from 1e16. */
export function writeNumber(type: string, value: number): string {
  if (type !== "FLOAT") return String(value);
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

export type OutOfRange = { type: "value_smaller_than_min" | "value_bigger_than_max"; message: string };

export function checkRange(field: InputField, value: NodeValue): OutOfRange | undefined {
  if (typeof value !== "number") return undefined;
  const { min, max } = field.options ?? {};
  const write = (number: number) => writeNumber(field.type, number);
  if (min !== undefined && value < min) {
    return { type: "value_smaller_than_min", message: `Value ${write(value)} smaller than min of ${write(min)}` };
  }
  if (max !== undefined && value > max) {
    return { type: "value_bigger_than_max", message: `Value ${write(value)} bigger than max of ${write(max)}` };
  }
  return undefined;
}
