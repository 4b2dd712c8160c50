// Masks secrets in free-form objects. Content beyond the bounds is masked whole. Links and descriptions of inputs stay.

import { withSpellingsOf } from "../json/exact-json";
import { isObject, type JsonObject } from "../json/json";
import { isLink } from "../workflow/graph";
import { MASK, maskText, spellingsOf } from "./secret-texts";

const anywhere =
  /apikey|apitoken|apisecret|authtoken|accesstoken|refreshtoken|bearertoken|sessiontoken|password|passwd|passphrase|secretkey|accesskey|privatekey|authorization|credential/;
const secretWords = new Set(["token", "tokens", "secret", "secrets", "auth", "cookie", "setcookie", "pwd"]);
const tokenOfService = /^(hf|huggingface|civitai|github|gitlab|openai|replicate|id|user|bot|csrf|jwt|oauth|login|client)(token|secret)$/;

export function isSecretName(name: string): boolean {
  const cached = remembered.get(name);
  if (cached !== undefined) return cached;
  const word = name.length > 100 ? "" : name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const secret = anywhere.test(word) || secretWords.has(word) || tokenOfService.test(word);
  if (remembered.size < MAX_CACHED) remembered.set(name, secret);
  return secret;
}

/** Field names repeat by the thousand in one answer; the bound keeps names sent by strangers from filling the memory. */
const remembered = new Map<string, boolean>();
const MAX_CACHED = 5000;

const maskBounds = { depth: 200, values: 3_000_000 } as const;

type IsMasked = (value: object) => boolean;

/** `literals`: secrets known by value. `isMasked`: the object was searched before with the same literals. */
export function maskSecrets<T>(value: T, literals?: readonly string[], isMasked?: IsMasked): T;
export function maskSecrets(value: unknown, literals: readonly string[] = [], isMasked: IsMasked = () => false): unknown {
  const search = { literals: spellingsOf(literals), left: maskBounds.values, names: new Map(), isMasked };
  return maskValue(value, search, { depth: 0, secret: false });
}

type Search = { literals: readonly string[]; left: number; names: Map<string, string>; isMasked: IsMasked };
type Scope = { depth: number; secret: boolean };

function maskValue(value: unknown, search: Search, scope: Scope): unknown {
  if (typeof value === "string") return scope.secret && value !== "" ? MASK : maskText(value, search.literals);
  if (typeof value !== "object" || value === null) return value;
  if (search.isMasked(value)) return value;
  if (scope.depth >= maskBounds.depth || --search.left < 0) return MASK;
  if (Array.isArray(value)) return maskList(value, search, scope);
  return isObject(value) ? maskObject(value, search, scope) : value;
}

function maskList(list: unknown[], search: Search, { depth, secret }: Scope): unknown[] {
  const inside = { depth: depth + 1, secret: secret && !isLink(list) && !isInputSpec(list) };
  let masked: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const after = maskValue(list[index], search, inside);
    if (after === list[index]) continue;
    masked ??= [...list];
    masked[index] = after;
  }
  return masked ? withSpellingsOf(list, masked) : list;
}

function maskObject(object: JsonObject, search: Search, { depth, secret }: Scope): JsonObject {
  const widgetsAreSecret = hasSecretWidget(object);
  const names = Object.keys(object);
  let masked: [string, unknown][] | undefined;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? "";
    const before = object[name];
    const announced = (isSecretName(name) && before !== name.toUpperCase()) || (widgetsAreSecret && name === "widgets_values");
    const after = maskValue(before, search, { depth: depth + 1, secret: secret || announced });
    const cleanName = cleanNameOf(name, search);
    if (masked === undefined && (after !== before || cleanName !== name)) masked = Object.entries(object).slice(0, index);
    masked?.push([cleanName, after]);
  }
  return masked ? withSpellingsOf(object, Object.fromEntries(masked)) : object;
}

/** Remembered, since every row of a list has the same few names. */
function cleanNameOf(name: string, search: Search): string {
  const cleanName = search.names.get(name);
  if (cleanName !== undefined) return cleanName;
  const clean = maskText(name, search.literals);
  search.names.set(name, clean);
  return clean;
}

/** ["STRING", { default: "" }] in a node catalogue describes an input named `api_key`; it is not a secret. */
function isInputSpec(list: unknown[]): boolean {
  return (
    list.length <= 2 &&
    typeof list[0] === "string" &&
    /^(STRING|INT|FLOAT|BOOLEAN|COMBO|\*)$/.test(list[0]) &&
    (list.length === 1 || isObject(list[1]))
  );
}

/** The editor's format lists widget values without names; the names are in `inputs`. One secret name makes all of a node's values secret. */
function hasSecretWidget(object: JsonObject): boolean {
  return (
    Array.isArray(object.widgets_values) &&
    Array.isArray(object.inputs) &&
    object.inputs.some((input: unknown) => isObject(input) && typeof input.name === "string" && isSecretName(input.name))
  );
}
