// An answer that is only passed on, in two halves: a small rest to which names are added, and its large parts as written JSON.
// Guarantees: putting it together again gives what was taken apart; a part is neither parsed nor copied until the answer is written.
// Must never: be asked for the content of a part.

import "server-only";
import { randomBytes } from "node:crypto";
import { needsSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { MOST_NAMES } from "./read-body";

/** `end`: where the part ends in `json`; the next one begins there. */
type Place = { path: readonly (string | number)[]; end: number };
export type InParts = { json: Uint8Array; places: readonly Place[] };

/** The most rows of a list of jobs (more than any queue holds), and fields of a row. Anything larger stays one part. */
export const MOST_ROWS = 100_000;
const MOST_FIELDS = 200;
/** For an answer that is itself a list. An object, such as a catalogue of node classes, may have MOST_NAMES fields. */
const MOST_ITEMS = 5000;
/** Longer than signed addresses. */
const LONGEST_TEXT = 4096;
const LARGEST_VALUE = 256;

/** Runs in the thread. Rows stay separate, so that names can be added to each. */
export function takeApart(value: unknown): { rest: unknown; inParts: InParts } {
  const pieces: Buffer[] = [];
  const places: Place[] = [];
  let end = 0;
  const write = (item: unknown, path: Place["path"]): unknown => {
    const isContainer = typeof item === "object" && item !== null;
    if (isContainer ? false : typeof item !== "string" || item.length <= LONGEST_TEXT) return item;
    const piece = Buffer.from(writeExactJson(item));
    // The spelling of numbers is lost between threads.
    if (isContainer && piece.byteLength <= LARGEST_VALUE && !needsSpelling(item)) return item;
    pieces.push(piece);
    end += piece.byteLength;
    places.push({ path, end });
    return null;
  };
  const row = (item: unknown, path: Place["path"]) => mapped(item, path, MOST_FIELDS, write);
  const field = (item: unknown, path: Place["path"]) => (Array.isArray(item) ? mapped(item, path, MOST_ROWS, row) : write(item, path));
  function mapped(item: unknown, path: Place["path"], most: number, put: (item: unknown, path: Place["path"]) => unknown): unknown {
    if (Array.isArray(item) && item.length <= most) return item.map((one: unknown, index) => put(one, [...path, index]));
    if (!isObject(item) || Object.keys(item).length > most) return write(item, path);
    return Object.fromEntries(Object.entries(item).map(([name, one]) => [name, put(one, [...path, name])]));
  }
  const rest = mapped(value, [], Array.isArray(value) ? MOST_ITEMS : MOST_NAMES, field);
  return { rest, inParts: { json: Buffer.concat(pieces), places } };
}

export function createWrittenParts() {
  const mark = randomBytes(12).toString("hex");
  const places = new RegExp(`"${mark}-(\\d+)"`);
  let count = 0;
  /** The parts of the value that is being written. */
  let met: Map<string, Uint8Array> | undefined;

  function part(bytes: Uint8Array): object {
    count += 1;
    const name = String(count);
    return {
      toJSON() {
        met?.set(name, bytes);
        return `${mark}-${name}`;
      },
    };
  }

  return {
    put(rest: unknown, { json, places: all }: InParts): unknown {
      let value = rest;
      let begin = 0;
      for (const { path, end } of all) {
        const found = part(json.subarray(begin, end));
        begin = end;
        const holder = path.slice(0, -1).reduce<unknown>(inside, value);
        const name = path.at(-1);
        if (name === undefined) value = found;
        // Defined and not assigned: a name may be `__proto__`.
        else if (typeof holder === "object" && holder !== null)
          Object.defineProperty(holder, name, { value: found, enumerable: true, writable: true, configurable: true });
      }
      return value;
    },

    write(value: unknown): Uint8Array {
      met = new Map();
      const text = writeExactJson(value);
      const parts = met;
      met = undefined;
      // Every other piece is what the pattern caught: the name of a part.
      const pieces = text.split(places).map((piece, index) => (index % 2 === 0 ? Buffer.from(piece) : (parts.get(piece) ?? Buffer.of())));
      return Buffer.concat(pieces);
    },
  };
}

function inside(holder: unknown, name: string | number): unknown {
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined;
}
