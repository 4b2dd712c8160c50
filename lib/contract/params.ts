// Query parameters as data, for queries of services and URLs of pages. An invalid value is reported and replaced by its default.

export type Param =
  | { kind: "integer"; min: number; max?: number; default?: number }
  | { kind: "boolean"; default?: boolean }
  | { kind: "word"; values: readonly string[]; default?: string }
  | { kind: "words"; values: readonly string[]; default?: undefined }
  | { kind: "text"; maxLength: number; isTrimmed?: true; default?: string; read?: (text: string) => string | undefined };
export type Params = Readonly<Record<string, Param>>;

type Word<P> = P extends { values: readonly (infer W)[] } ? W : never;
export type ValueOf<P extends Param> = {
  integer: number;
  boolean: boolean;
  word: Word<P>;
  words: Word<P>[];
  text: string;
}[P["kind"]];
type ParamValues<P extends Params> = { [N in keyof P as P[N] extends { default: string | number | boolean } ? N : never]: ValueOf<P[N]> };
export type ValuesOf<P extends Params> = ParamValues<P> & { [N in Exclude<keyof P, keyof ParamValues<P>>]?: ValueOf<P[N]> };

const MAX_IGNORED_LENGTH = 100;

export function parseSearch<const P extends Params>(params: P, search: URLSearchParams): { query: ValuesOf<P>; ignored: string[] };
export function parseSearch(params: Params, search: URLSearchParams): { query: unknown; ignored: string[] } {
  const ignored: string[] = [];
  const entries = Object.entries(params).map(([name, param]) => {
    const text = search.getAll(name).join(",");
    const value = text === "" ? undefined : parseParam(param, text);
    if (text !== "" && value === undefined) ignored.push(`${name}=${text.slice(0, MAX_IGNORED_LENGTH)}`);
    return [name, value ?? param.default];
  });
  return { query: Object.fromEntries(entries), ignored };
}

function parseParam(param: Param, text: string): unknown {
  if (param.kind === "word") return param.values.find((value) => value === text);
  if (param.kind === "boolean") return parseBoolean(text);
  if (param.kind === "integer") {
    const value = parseInteger(text);
    return value !== undefined && value >= param.min && value <= (param.max ?? Number.MAX_SAFE_INTEGER) ? value : undefined;
  }
  if (param.kind === "words") {
    const requestedValues = splitList(text.toLowerCase());
    return requestedValues.every((value) => param.values.includes(value))
      ? param.values.filter((value) => requestedValues.includes(value))
      : undefined;
  }
  const value = param.isTrimmed ? text.trim() : text;
  if (value === "" || value.length > param.maxLength) return undefined;
  return param.read ? param.read(value) : value;
}

/** For URLs. Default values are omitted, so that equal queries have the same URL. */
export function toSearchValues<const P extends Params>(
  params: P,
  values: ValuesOf<P>,
): Record<keyof P, string | number | boolean | readonly string[] | undefined>;
export function toSearchValues(params: Params, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(params).map(([name, param]) => {
    const value = values[name];
    const isList = param.kind === "words" && Array.isArray(value);
    return [name, isList ? param.values.filter((word) => value.includes(word)) : value === param.default ? undefined : value];
  });
  return Object.fromEntries(entries);
}

export function parseInteger(text: string): number | undefined {
  return /^-?\d{1,16}$/.test(text) ? Number(text) + 0 : undefined;
}

export function parseBoolean(text: string): boolean | undefined {
  const lowerText = text.toLowerCase();
  return lowerText === "true" || lowerText === "1" || (lowerText === "false" || lowerText === "0" ? false : undefined);
}

export function splitList(text: string): string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}

/** Ids come from services and must not change the rest of a URL. Node classes may have spaces and letters of any language. */
export function isAddressableId(value: string): boolean {
  return value.length <= 1000 && !/^\.{1,2}$/.test(value) && /^[^\p{Cc}\p{Cs}/\\%?#]+$/u.test(value);
}
