import { getSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, type JsonObject } from "@/lib/contract/json/json";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type InputField, type NodeValue } from "./definition";

type Literal = Result<NodeValue, string>;

export type InputValue = { value: unknown; /** As in Python, a number is a float if it is written like 5.0 or 1e3. */ isFloat: boolean };

/** Unwraps `__value__`, which marks a literal list, so that it is not read as a link. */
export function readInputValue(inputs: JsonObject, name: string): InputValue {
  const input = getOwn(inputs, name);
  const wrapper = asObject(input);
  const [container, key] = wrapper && Object.hasOwn(wrapper, "__value__") ? [wrapper, "__value__"] : [inputs, name];
  const value = getOwn(container, key);
  if (typeof value !== "number") return { value, isFloat: false };
  const isFloat = /[.e]/i.test(getSpelling(container, key) ?? String(value));
  return { value: isFloat ? value : value + 0, isFloat }; // the integer -0 is 0
}

export function readLiteral(type: string, { value, isFloat }: InputValue): Literal {
  if (type === "INT") return readInt(value);
  if (type === "FLOAT") return readFloat(value);
  if (type === "BOOLEAN") return readBoolean(value);
  if (type === "STRING" || type === "COMBO") return ok(isFloat && isNumeric(value) ? writeNumber("FLOAT", value) : toText(value));
  if (type === "*") return ok(isNumeric(value) || typeof value === "boolean" ? value : toText(value, 4));
  return failed(`${quote(value)} is a literal, but ${type} requires a link from another node`);
}

/** A float in an input of any type (`*`) is a FLOAT. Returns undefined if there is no value. */
export function readInputLiteral(inputs: JsonObject, name: string, declaredType: string): { type: string; literal: Literal } | undefined {
  const input = readInputValue(inputs, name);
  if (input.value === undefined) return undefined;
  return { type: declaredType === "*" && input.isFloat ? "FLOAT" : declaredType, literal: readLiteral(declaredType, input) };
}

function readInt(value: unknown): Literal {
  const number = typeof value === "string" ? parseInteger(value) : toNumber(value);
  return number === undefined ? failed(`${quote(value)} is not a whole number`) : ok(normalizeInteger(number));
}

/** Longer texts exceed every range and are slow to parse. */
function parseInteger(text: string): bigint | undefined {
  return /^\s*[+-]?\d{1,1000}\s*$/.test(text) ? BigInt(text) : undefined;
}

/** Returns a number if it can represent the value, so that equal values have the same form. */
function normalizeInteger(value: number | bigint): number | bigint {
  const integer = typeof value === "bigint" ? value : Math.trunc(value);
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : BigInt(integer);
}

function readFloat(value: unknown): Literal {
  const isText = typeof value === "string" && /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/.test(value);
  const number = Number(toNumber(isText ? Number(value) : value));
  return Number.isFinite(number) ? ok(number) : failed(`${quote(value)} is not a number`);
}

function toNumber(value: unknown): number | bigint | undefined {
  if (typeof value === "boolean") return Number(value);
  return typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value)) ? value : undefined;
}

function readBoolean(value: unknown): Literal {
  if (typeof value === "boolean") return ok(value);
  if (isNumeric(value) || value === null) return ok(Boolean(value));
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  return text === "true" || text === "false" ? ok(text === "true") : failed(`${quote(value)} is neither true nor false`);
}

function toText(value: unknown, indent?: number): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return writeBoolean(value);
  return value === null || value === undefined ? "None" : writeExactJson(value, indent);
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

export function writeBoolean(value: boolean): string {
  return value ? "True" : "False";
}

export function quote(value: unknown): string {
  const text = typeof value === "string" ? `'${value}'` : value === undefined ? "nothing" : writeExactJson(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Formats a number by its type. A FLOAT has a decimal point, or a two-digit exponent below 0.0001 and from 1e16. */
export function writeNumber(type: string, value: number | bigint): string {
  if (type !== "FLOAT" || typeof value === "bigint") return String(value);
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

type OutOfRangeError = { type: "value_smaller_than_min" | "value_bigger_than_max"; message: string };

export function checkRange(field: InputField, value: NodeValue): OutOfRangeError | undefined {
  if (!isNumeric(value)) return undefined;
  const { min, max } = field.options ?? {};
  const format = (number: number | bigint) => writeNumber(field.type, number);
  if (min !== undefined && value < min) {
    return { type: "value_smaller_than_min", message: `Value ${format(value)} smaller than min of ${format(min)}` };
  }
  if (max !== undefined && value > max) {
    return { type: "value_bigger_than_max", message: `Value ${format(value)} bigger than max of ${format(max)}` };
  }
  return undefined;
}
