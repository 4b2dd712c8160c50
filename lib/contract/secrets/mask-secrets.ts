// Masks secrets in free-form objects. Content beyond the limits is masked completely. Links and input descriptions are not masked.

import { copySpellings } from "../json/exact-json";
import { isObject, type JsonObject } from "../json/json";
import { isLink } from "../workflow/graph";
import { listSpellings, MASK, maskText } from "./secret-texts";

const secretPattern =
  /apikey|apitoken|apisecret|authtoken|accesstoken|refreshtoken|bearertoken|sessiontoken|password|passwd|passphrase|secretkey|accesskey|privatekey|authorization|credential/;
const secretWords = new Set(["token", "tokens", "secret", "secrets", "auth", "cookie", "setcookie", "pwd"]);
const serviceTokenPattern =
  /^(hf|huggingface|civitai|github|gitlab|openai|replicate|id|user|bot|csrf|jwt|oauth|login|client)(token|secret)$/;

export function isSecretName(name: string): boolean {
  if (name.length > MAX_NAME_LENGTH) return false;
  const cachedResult = secretNameCache.get(name);
  if (cachedResult !== undefined) return cachedResult;
  const normalizedName = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const isSecret = secretPattern.test(normalizedName) || secretWords.has(normalizedName) || serviceTokenPattern.test(normalizedName);
  if (secretNameCache.size < MAX_CACHED_NAMES) secretNameCache.set(name, isSecret);
  return isSecret;
}

/** Names repeat within a response, so results are cached. The limits cap the cache's memory. */
const secretNameCache = new Map<string, boolean>();
const MAX_CACHED_NAMES = 5000;
const MAX_NAME_LENGTH = 100;

const maskBounds = { depth: 200, values: 3_000_000 } as const;

type IsMasked = (value: object) => boolean;

/** `literals`: known secret values. `isMasked`: the object was already masked with the same literals. */
export function maskSecrets<T>(value: T, literals?: readonly string[], isMasked?: IsMasked): T;
export function maskSecrets(value: unknown, literals: readonly string[] = [], isMasked: IsMasked = () => false): unknown {
  const search = { literals: listSpellings(literals), remainingValues: maskBounds.values, names: new Map(), isMasked };
  return maskValue(value, search, { depth: 0, isSecret: false });
}

type Search = { literals: readonly string[]; remainingValues: number; names: Map<string, string>; isMasked: IsMasked };
type Scope = { depth: number; isSecret: boolean };

function maskValue(value: unknown, search: Search, scope: Scope): unknown {
  if (typeof value === "string") return scope.isSecret && value !== "" ? MASK : maskText(value, search.literals);
  if (typeof value !== "object" || value === null) return value;
  if (search.isMasked(value)) return value;
  if (scope.depth >= maskBounds.depth || --search.remainingValues < 0) return MASK;
  if (Array.isArray(value)) return maskList(value, search, scope);
  return isObject(value) ? maskObject(value, search, scope) : value;
}

function maskList(list: unknown[], search: Search, { depth, isSecret }: Scope): unknown[] {
  const innerScope = { depth: depth + 1, isSecret: isSecret && !isLink(list) && !isInputSpec(list) };
  let maskedItems: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const maskedItem = maskValue(list[index], search, innerScope);
    if (maskedItem === list[index]) continue;
    maskedItems ??= [...list];
    maskedItems[index] = maskedItem;
  }
  return maskedItems ? copySpellings(list, maskedItems) : list;
}

function maskObject(object: JsonObject, search: Search, { depth, isSecret }: Scope): JsonObject {
  const hasSecretWidgets = hasSecretWidget(object);
  const names = Object.keys(object);
  let entries: [string, unknown][] | undefined;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? "";
    const value = object[name];
    const isSecretField = (isSecretName(name) && value !== name.toUpperCase()) || (hasSecretWidgets && name === "widgets_values");
    const maskedValue = maskValue(value, search, { depth: depth + 1, isSecret: isSecret || isSecretField });
    const maskedName = maskName(name, search);
    if (entries === undefined && (maskedValue !== value || maskedName !== name)) entries = Object.entries(object).slice(0, index);
    entries?.push([maskedName, maskedValue]);
  }
  return entries ? copySpellings(object, Object.fromEntries(entries)) : object;
}

/** Cached, because all rows of a list have the same names. */
function maskName(name: string, search: Search): string {
  const cachedName = search.names.get(name);
  if (cachedName !== undefined) return cachedName;
  const maskedName = maskText(name, search.literals);
  search.names.set(name, maskedName);
  return maskedName;
}

/** In a node catalogue, ["STRING", { default: "" }] describes an input named `api_key`, and is not a secret. */
function isInputSpec(list: unknown[]): boolean {
  return (
    list.length <= 2 &&
    typeof list[0] === "string" &&
    /^(STRING|INT|FLOAT|BOOLEAN|COMBO|\*)$/.test(list[0]) &&
    (list.length === 1 || isObject(list[1]))
  );
}

/** The editor's format lists widget values without names, which are in `inputs`. If one name is secret, all values are. */
function hasSecretWidget(object: JsonObject): boolean {
  return (
    Array.isArray(object.widgets_values) &&
    Array.isArray(object.inputs) &&
    object.inputs.some((input: unknown) => isObject(input) && typeof input.name === "string" && isSecretName(input.name))
  );
}
