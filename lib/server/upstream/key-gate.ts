// Redacts the connection's key from every upstream response, in every listed spelling.

import "server-only";
import { setImmediate as othersTurn } from "node:timers/promises";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { MASK, spellingsOf } from "@/lib/contract/secrets/secret-texts";
import { type Send } from "./send";

/** `text`: for everything received as text, including JSON. `has`: for headers, which are dropped if the key is in them. */
export type KeyGate = {
  text(raw: string): Promise<string>;
  has(value: string): boolean;
  /** For a part of a longer JSON string: masks the beginning of a key wherever it is. */
  part(raw: string): string;
  partialKeyLength(raw: string): number;
};

/** Beginnings that many keys share, and package names too: they reveal nothing. */
const sharedBeginning = /^(?:comfyui|sk|ld|hf|r8)[-_]/;
const MIN_CUT = 8;
const LONG_TEXT = 1024 * 1024;
/** An escaped slash or letter that needs no escape: such escapes hide a word from a search. */
const needlessEscape = /\\(?:u00[2-7]|\/)/i;

const open: KeyGate = { text: (raw) => Promise.resolve(raw), has: () => false, part: (raw) => raw, partialKeyLength: () => 0 };

export function keyGate(apiKey: string | undefined): KeyGate {
  const [plain] = apiKey === undefined ? [] : spellingsOf([apiKey]);
  if (apiKey === undefined || plain === undefined) return open;
  // Computed when first needed: most requests pass few of their gates.
  let spelt: readonly string[] | undefined;
  const spellings = () => (spelt ??= everySpelling(apiKey));
  const cut = (sharedBeginning.exec(apiKey)?.[0].length ?? 0) + MIN_CUT;
  const once = (text: string, spelling: string) => (text.includes(spelling) ? text.replaceAll(spelling, MASK) : text);
  return {
    async text(raw) {
      const isLong = raw.length > LONG_TEXT;
      let text = needlessEscape.test(raw) ? withoutEscapes(raw) : raw;
      for (const spelling of spellings()) {
        if (isLong) await othersTurn();
        text = once(text, spelling);
      }
      return withoutCut(text, apiKey, cut);
    },
    part: (raw) => withoutCut(spellings().reduce(once, raw), apiKey, cut, true),
    partialKeyLength(raw) {
      let maxLength = 0;
      for (const spelling of spellings()) {
        let length = Math.min(raw.length, spelling.length - 1);
        while (length > maxLength && !raw.endsWith(spelling.slice(0, length))) length -= 1;
        maxLength = Math.max(maxLength, length);
      }
      return maxLength;
    },
    has: (value) => spellings().some((spelling) => value.includes(spelling)) || withoutCut(value, apiKey, cut) !== value,
  };
}

/** Removes headers that contain the key. `location` stays: redirects are followed and never shown. */
export function withoutKeyInHeaders(send: Send, apiKey: string | undefined): Send {
  const { has } = keyGate(apiKey);
  return async (request, onHead) => {
    const response = await send(request, onHead);
    for (const [name, value] of [...response.headers]) if (name !== "location" && has(value)) response.headers.delete(name);
    return response;
  };
}

/** Escapes of JSON are undone before the search. */
function everySpelling(apiKey: string): string[] {
  const percent = [...Buffer.from(apiKey)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const lowerCase = encodeURIComponent(apiKey).replace(/%../g, (byte) => byte.toLowerCase());
  const spellings = [...spellingsOf([apiKey]), lowerCase, percent, percent.toUpperCase()];
  return [...new Set(spellings)].sort((value, other) => other.length - value.length);
}

/** Removes the beginning of a key where a text was cut off: before the end, a quote, a line end or dots; anywhere if half a key or more, or if `isAnywhere`. */
function withoutCut(text: string, apiKey: string, shortest: number, isAnywhere = false): string {
  const prefix = apiKey.slice(0, shortest);
  if (apiKey.length <= shortest) return text;
  const parts: string[] = [];
  let done = 0;
  for (let at = text.indexOf(prefix); at >= 0; at = text.indexOf(prefix, at + shortest)) {
    let end = at + shortest;
    while (end - at < apiKey.length && text[end] === apiKey[end - at]) end += 1;
    if (
      at < done ||
      (!isAnywhere && end < text.length && end - at < apiKey.length / 2 && !/^(?:["'\\\r\n\u2026]|\.\.)/.test(text.slice(end, end + 2)))
    )
      continue;
    parts.push(text.slice(done, at), MASK);
    done = end;
  }
  return done === 0 ? text : parts.join("") + text.slice(done);
}

function withoutEscapes(raw: string): string {
  try {
    return writeExactJson(parseExactJson(raw));
  } catch {
    return raw;
  }
}
