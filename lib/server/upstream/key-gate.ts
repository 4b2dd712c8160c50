// Redacts the connection's key from every upstream response, in every listed spelling.

import "server-only";
import { setImmediate as waitForTurn } from "node:timers/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { listSpellings, MASK } from "@/lib/contract/secrets/secret-texts";
import { type Send } from "./send";

/** `text` redacts everything received as text, including JSON. `has` is for headers, which are dropped if they contain the key. */
export type KeyGate = {
  text(raw: string): Promise<string>;
  has(value: string): boolean;
  /** For a part of a longer JSON string: also masks the beginning of a key anywhere in it. */
  part(raw: string): string;
  partialKeyLength(raw: string): number;
};

/** Beginnings that many keys share, and package names too. They reveal nothing. */
const commonPrefix = /^(?:comfyui|sk|ld|hf|r8)[-_]/;
const MIN_PARTIAL_KEY_LENGTH = 8;
const LONG_TEXT_LENGTH = 1024 * 1024;
/** An escape of a character that needs none. Such escapes would hide the key from a search. */
const needlessEscape = /\\(?:u00[2-7]|\/)/i;

const openGate: KeyGate = { text: (raw) => Promise.resolve(raw), has: () => false, part: (raw) => raw, partialKeyLength: () => 0 };

export function createKeyGate(apiKey: string | undefined): KeyGate {
  const [plain] = apiKey === undefined ? [] : listSpellings([apiKey]);
  if (apiKey === undefined || plain === undefined) return openGate;
  // Computed on first use, because most requests use few of their gates.
  let cachedSpellings: readonly string[] | undefined;
  const spellings = () => (cachedSpellings ??= listKeySpellings(apiKey));
  const minLength = (commonPrefix.exec(apiKey)?.[0].length ?? 0) + MIN_PARTIAL_KEY_LENGTH;
  const maskSpelling = (text: string, spelling: string) => (text.includes(spelling) ? text.replaceAll(spelling, MASK) : text);
  return {
    async text(raw) {
      const isLong = raw.length > LONG_TEXT_LENGTH;
      let text = needlessEscape.test(raw) ? decodeEscapes(raw) : raw;
      for (const spelling of spellings()) {
        if (isLong) await waitForTurn();
        text = maskSpelling(text, spelling);
      }
      return maskPartialKeys(text, apiKey, minLength);
    },
    part: (raw) => maskPartialKeys(spellings().reduce(maskSpelling, raw), apiKey, minLength, true),
    partialKeyLength(raw) {
      let maxLength = 0;
      for (const spelling of spellings()) {
        let length = Math.min(raw.length, spelling.length - 1);
        while (length > maxLength && !raw.endsWith(spelling.slice(0, length))) length -= 1;
        maxLength = Math.max(maxLength, length);
      }
      return maxLength;
    },
    has: (value) => spellings().some((spelling) => value.includes(spelling)) || maskPartialKeys(value, apiKey, minLength) !== value,
  };
}

/** Removes headers that contain the key, except `location`: redirects are followed and never shown. */
export function removeKeyFromHeaders(send: Send, apiKey: string | undefined): Send {
  const { has } = createKeyGate(apiKey);
  return async (request, onHead) => {
    const response = await send(request, onHead);
    for (const [name, value] of [...response.headers]) if (name !== "location" && has(value)) response.headers.delete(name);
    return response;
  };
}

/** All spellings of the key. Escapes of JSON are decoded before the search. */
function listKeySpellings(apiKey: string): string[] {
  const percent = [...Buffer.from(apiKey)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const lowerCase = encodeURIComponent(apiKey).replace(/%../g, (byte) => byte.toLowerCase());
  const spellings = [...listSpellings([apiKey]), lowerCase, percent, percent.toUpperCase()];
  return [...new Set(spellings)].sort((value, other) => other.length - value.length);
}

/**
 * Masks the beginning of a key where a text was truncated: before the end, a quote, a line end or dots. With at least half of the key, or
 * with `isAnywhere`, masks it anywhere.
 */
function maskPartialKeys(text: string, apiKey: string, shortest: number, isAnywhere = false): string {
  const prefix = apiKey.slice(0, shortest);
  if (apiKey.length <= shortest) return text;
  const parts: string[] = [];
  let copiedUntil = 0;
  for (let at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + shortest)) {
    let end = at + shortest;
    while (end - at < apiKey.length && text[end] === apiKey[end - at]) end += 1;
    if (
      at < copiedUntil ||
      (!isAnywhere && end < text.length && end - at < apiKey.length / 2 && !/^(?:["'\\\r\n\u2026]|\.\.)/.test(text.slice(end, end + 2)))
    )
      continue;
    parts.push(text.slice(copiedUntil, at), MASK);
    copiedUntil = end;
  }
  return copiedUntil === 0 ? text : parts.join("") + text.slice(copiedUntil);
}

function decodeEscapes(raw: string): string {
  try {
    return writeExactJson(parseExactJson(raw));
  } catch {
    return raw;
  }
}
