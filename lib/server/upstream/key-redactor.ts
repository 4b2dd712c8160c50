// Redacts the connection's key from every upstream response, in every listed spelling.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseServiceJson } from "@/lib/contract/json/parse-json";
import { listSpellings, MASK } from "@/lib/contract/secrets/secret-texts";
import { type Send } from "./send";

/** `redact` is for all received text, including JSON. `containsKey` is for headers, which are dropped if they contain the key. */
export type KeyRedactor = {
  redact(raw: string): Promise<string>;
  containsKey(value: string): boolean;
  /** For a part of a longer JSON string. Also masks the beginning of a key anywhere in it. */
  redactPart(raw: string): string;
  getPartialKeyLength(raw: string): number;
};

/** Prefixes of many keys and package names. They reveal nothing. */
const commonPrefixPattern = /^(?:comfyui|sk|ld|hf|r8)[-_]/;
const MIN_PARTIAL_KEY_LENGTH = 8;
const LONG_TEXT_LENGTH = 1024 * 1024;
/** An escape of a character that needs none. Such escapes would hide the key from a search. */
const needlessEscapePattern = /\\(?:u00[2-7]|\/)/i;

const noopRedactor: KeyRedactor = {
  redact: (raw) => Promise.resolve(raw),
  containsKey: () => false,
  redactPart: (raw) => raw,
  getPartialKeyLength: () => 0,
};

export function createKeyRedactor(apiKey: string | undefined): KeyRedactor {
  const [plainKey] = apiKey === undefined ? [] : listSpellings([apiKey]);
  if (apiKey === undefined || plainKey === undefined) return noopRedactor;
  // Computed on first use, because most redactors are never used.
  let cachedSpellings: readonly string[] | undefined;
  const getSpellings = () => (cachedSpellings ??= listKeySpellings(apiKey));
  const minLength = (commonPrefixPattern.exec(apiKey)?.[0].length ?? 0) + MIN_PARTIAL_KEY_LENGTH;
  const maskSpelling = (text: string, spelling: string) => (text.includes(spelling) ? text.replaceAll(spelling, MASK) : text);
  return {
    async redact(raw) {
      const isLong = raw.length > LONG_TEXT_LENGTH;
      let text = needlessEscapePattern.test(raw) ? decodeEscapes(raw) : raw;
      for (const spelling of getSpellings()) {
        if (isLong) await yieldToEventLoop();
        text = maskSpelling(text, spelling);
      }
      return maskPartialKeys(text, apiKey, minLength);
    },
    redactPart: (raw) => maskPartialKeys(getSpellings().reduce(maskSpelling, raw), apiKey, minLength, true),
    getPartialKeyLength(raw) {
      let maxLength = 0;
      for (const spelling of getSpellings()) {
        let length = Math.min(raw.length, spelling.length - 1);
        while (length > maxLength && !raw.endsWith(spelling.slice(0, length))) length -= 1;
        maxLength = Math.max(maxLength, length);
      }
      return maxLength;
    },
    containsKey: (value) =>
      getSpellings().some((spelling) => value.includes(spelling)) || maskPartialKeys(value, apiKey, minLength) !== value,
  };
}

/** Removes headers that contain the key, except `location`: redirects are followed and never shown. */
export function removeKeyFromHeaders(send: Send, apiKey: string | undefined): Send {
  const { containsKey } = createKeyRedactor(apiKey);
  return async (request, onHeaders) => {
    const response = await send(request, onHeaders);
    for (const [name, value] of [...response.headers]) if (name !== "location" && containsKey(value)) response.headers.delete(name);
    return response;
  };
}

/** Lists all spellings of the key. JSON escapes are decoded before the search. */
function listKeySpellings(apiKey: string): string[] {
  const percentEncodedKey = [...Buffer.from(apiKey)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const lowerCaseKey = encodeURIComponent(apiKey).replace(/%../g, (byte) => byte.toLowerCase());
  const spellings = [...listSpellings([apiKey]), lowerCaseKey, percentEncodedKey, percentEncodedKey.toUpperCase()];
  return [...new Set(spellings)].sort((a, b) => b.length - a.length);
}

/**
 * Masks the beginning of a key where a text was truncated: before the end, a quote, a line end or dots. With at least half of the key, or
 * with `isAnywhere`, masks it anywhere.
 */
function maskPartialKeys(text: string, apiKey: string, minLength: number, isAnywhere = false): string {
  const prefix = apiKey.slice(0, minLength);
  if (apiKey.length <= minLength) return text;
  const output: string[] = [];
  let copyEnd = 0;
  for (let start = text.indexOf(prefix); start >= 0; start = text.indexOf(prefix, start + minLength)) {
    let end = start + minLength;
    while (end - start < apiKey.length && text[end] === apiKey[end - start]) end += 1;
    if (
      start < copyEnd ||
      (!isAnywhere && end < text.length && end - start < apiKey.length / 2 && !/^(?:["'\\\r\n\u2026]|\.\.)/.test(text.slice(end, end + 2)))
    )
      continue;
    output.push(text.slice(copyEnd, start), MASK);
    copyEnd = end;
  }
  return copyEnd === 0 ? text : output.join("") + text.slice(copyEnd);
}

function decodeEscapes(raw: string): string {
  try {
    return writeExactJson(parseServiceJson(raw));
  } catch {
    return raw.replace(/\\(?:u00([2-7][0-9a-f])|[^])/gi, decodeEscape);
  }
}

/** Quotes and backslashes stay escaped, as they are in the key's spellings. */
function decodeEscape(escape: string, digits: string | undefined): string {
  if (digits === undefined) return escape === "\\/" ? "/" : escape;
  return writeExactJson(String.fromCharCode(Number.parseInt(digits, 16))).slice(1, -1);
}
