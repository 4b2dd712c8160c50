import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copySpellings, getSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import {
  maxExactNumbers,
  parseExactJson,
  parseJson,
  parseLenient,
  parseLenientJson,
  parseServiceJson,
  TooManyExactNumbersError,
} from "@/lib/contract/json/parse-json";

/** JSON values that include integers of any length. */
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false, ""),
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^["\\0-9,:{}[\]]{0,40}$/),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    fc.integer(),
    fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map((value) => (isSafe(value) ? Number(value) : value)),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "0", "12345678901234567890")), tie("value"), {
      maxKeys: 5,
    }),
  ),
})).value;

function isSafe(value: bigint): boolean {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
}

describe("exact JSON", () => {
  it.each(["-9223372036854775808", "9007199254740992", "1" + "0".repeat(500)])("keeps every digit of %s", (digits) => {
    const text = `{"seed":${digits},"list":[[${digits}]]}`;
    expect(writeExactJson(parseExactJson(text))).toBe(text);
    expect(parseExactJson(digits)).toBe(BigInt(digits));
  });

  it("keeps the spelling of every number in lists and objects", () => {
    const number = fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})([.][0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/);
    fc.assert(
      fc.property(fc.array(number, { minLength: 1 }), (numbers) => {
        const list = `[${numbers.join(",")},{"a":[${numbers.join(",")}]}]`;
        expect(writeExactJson(parseExactJson(list))).toBe(list);
        const object = `{${numbers.map((text, index) => `"k${index}":${text}`).join(",")}}`;
        expect(writeExactJson(parseExactJson(object))).toBe(object);
      }),
      { numRuns: 1000 },
    );
  });

  it("reads numbers of any spelling like JSON.parse", () => {
    for (const text of [
      '{"a":5.0,"b":[1e3,-0,0.10],"c":{"__proto__":5.0},"d":1e400,"d":2.0}',
      '{"a":9007199254740991,"c":"18446744073709551615","d":0.12345678901234567,"e":12345678901234567e-3,"18446744073709551615":1}',
    ])
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
  });

  it("keeps the spelling of unedited values and rewrites edited ones", () => {
    const original = parseExactJson<Record<string, unknown>>('{"a":5.0,"b":0.10,"c":-0}');
    expect(writeExactJson(copySpellings(original, { ...original, b: 0.2 }))).toBe('{"a":5.0,"b":0.2,"c":-0}');
    expect(writeExactJson(copySpellings(original, { ...original, c: 0 }))).toBe('{"a":5.0,"b":0.10,"c":0}');
    expect(getSpelling(original, "a")).toBe("5.0");
  });

  it("rejects too many exactly spelled numbers or digits before parsing", () => {
    expect(parseExactJson("[5.0,1,2,3]", { maxNumbers: 1 })).toEqual([5, 1, 2, 3]);
    expect(() => parseExactJson("[5.0,1e3 this is not JSON", { maxNumbers: 1 })).toThrow(TooManyExactNumbersError);
    expect(parseExactJson(`[${"1".repeat(20)}]`, { maxNumbers: 1 })).toEqual([BigInt("1".repeat(20))]);
    expect(() => parseExactJson(`[${"1".repeat(21)}]`, { maxNumbers: 1 })).toThrow(TooManyExactNumbersError);
  });

  it("rejects too many exactly spelled numbers by default in every reader", () => {
    const createNumberList = (count: number) => `[${"5.0,".repeat(count)}1]`;
    const { text, response } = maxExactNumbers;
    expect([parseJson, parseLenientJson].map((read) => read(createNumberList(text + 1)))).toEqual([undefined, undefined]);
    expect([parseJson, parseLenientJson].map((read) => Array.isArray(read(createNumberList(text))))).toEqual([true, true]);
    expect(() => parseLenient(`[NaN,${createNumberList(text + 1)}]`)).toThrow(TooManyExactNumbersError);
    expect(() => parseServiceJson(createNumberList(response + 1))).toThrow(TooManyExactNumbersError);
    expect(() => parseExactJson(createNumberList(response + 1))).toThrow(TooManyExactNumbersError);
  });

  it("reads back any written value, with and without indent", () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(0, 2), (value, indent) => {
        // A float with 16 digits before its decimal point is written without the point, so it reads back as an integer.
        const text = writeExactJson(value, indent);
        expect(writeExactJson(parseExactJson(text), indent)).toBe(text);
      }),
    );
  });

  it("writes like JSON.stringify when every number is short", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        expect(writeExactJson(value, indent)).toBe(JSON.stringify(value, null, indent));
        const expectedText = writeExactJson([value, 2n ** 64n], indent);
        expect(expectedText.replace("18446744073709551616", "0")).toBe(JSON.stringify([value, 0], null, indent));
      }),
    );
  });

  it("accepts exactly what JSON.parse accepts", () => {
    const piece = fc.constantFrom(...'{}[]:,"\\-0 ', '"a"', "12345678901234567890", "1.", "e5", "true");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join("");
        const getOutcome = (read: (text: string) => unknown) => {
          try {
            read(text);
            return "accepted";
          } catch (error) {
            return error instanceof SyntaxError ? "rejected" : error;
          }
        };
        expect(getOutcome(parseExactJson)).toBe(getOutcome(JSON.parse));
      }),
      { numRuns: 2000 },
    );
  });

  it("rejects a long number as a key and never changes a prototype", () => {
    expect(() => parseExactJson("{12345678901234567890:1}")).toThrow(SyntaxError);
    const value = parseExactJson('{"__proto__":{"seed":12345678901234567890}}');
    expect(Object.keys(Object(value))).toEqual(["__proto__"]);
    expect(writeExactJson(value)).toBe('{"__proto__":{"seed":12345678901234567890}}');
    expect(Object.hasOwn(Object.prototype, "seed")).toBe(false);
  });

  it("parses deeply nested JSON and a number with a million digits", () => {
    const deep = "[".repeat(100_000) + "12345678901234567890" + "]".repeat(100_000);
    expect(() => parseExactJson(deep)).not.toThrow();
    expect(parseExactJson("9".repeat(1_000_000), { maxNumbers: 100_000 })).toBe(Number.POSITIVE_INFINITY);
  });

  it("throws on circular values and omits what JSON.stringify omits", () => {
    const loop: unknown[] = [1n];
    loop.push(loop);
    expect(() => writeExactJson(loop)).toThrow();
    expect(writeExactJson({ a: undefined, b: 2n ** 64n, c: new Date(0), d: [undefined] })).toBe(
      '{"b":18446744073709551616,"c":"1970-01-01T00:00:00.000Z","d":[null]}',
    );
    expect(writeExactJson(undefined)).toBe("null");
  });
});
