// Just enough of WebAssembly's binary format (core specification 2.0, chapter 5) to write a kernel of vector instructions by hand:
// JavaScript has none, and a compiler for thirty lines would be one more thing to install.
// It must never grow into one: a kernel that needs more than loops over memory stays JavaScript.

type Code = readonly number[];
export type WasmFunction = { name: string; /** All i32. */ parameters: number; numbers: number; vectors: number; body: Code };

const I32 = 0x7f;
const V128 = 0x7b;

/** LEB128. */
function unsigned(value: number): number[] {
  const low = value & 0x7f;
  return value > 0x7f ? [low | 0x80, ...unsigned(value >>> 7)] : [low];
}

function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}

const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const sized = (content: Code): Code => [...unsigned(content.length), ...content];
const section = (id: number, items: readonly Code[]): Code => [id, ...sized(list(items))];
const text = (word: string): Code => sized([...Buffer.from(word, "utf8")]);

/** Numbers are locals after the parameters, vectors after the numbers. Memory is imported as env.memory. */
export function wasmModule(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const locals = ({ numbers, vectors }: WasmFunction) =>
    list([
      [...unsigned(numbers), I32],
      [...unsigned(vectors), V128],
    ]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(
      1,
      functions.map(({ parameters }) => [0x60, ...list(Array.from({ length: parameters }, () => [I32])), 0]),
    ),
    ...section(2, [[...text("env"), ...text("memory"), 0x02, 0x00, ...unsigned(1)]]),
    ...section(
      3,
      functions.map((_, index) => unsigned(index)),
    ),
    ...section(
      7,
      functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]),
    ),
    ...section(
      10,
      functions.map((one) => sized([...locals(one), ...one.body, 0x0b])),
    ),
  ]);
}

const vector = (opcode: number, ...rest: Code): Code => [0xfd, ...unsigned(opcode), ...rest];
const at = (offset: number): Code => [0, ...unsigned(offset)];

export const get = (local: number): Code => [0x20, local];
export const set = (local: number, ...value: readonly Code[]): Code => [...value.flat(), 0x21, local];
export const constant = (value: number): Code => [0x41, ...signed(value)];
export const plus = (a: Code, b: Code): Code => [...a, ...b, 0x6a];
export const times = (a: Code, b: Code): Code => [...a, ...b, 0x6c];
export const loadNumber = (from: Code, offset = 0): Code => [...from, 0x28, ...at(offset)];
export const loadByte = (from: Code, offset = 0): Code => [...from, 0x2d, 0, ...unsigned(offset)];
export const storeNumber = (to: Code, value: Code, offset = 0): Code => [...to, ...value, 0x36, ...at(offset)];
export const storeByte = (to: Code, value: Code, offset = 0): Code => [...to, ...value, 0x3a, 0, ...unsigned(offset)];
/** Runs the body once, and again while `a` is less than `b`. */
export const repeatWhileLess = (a: Code, b: Code, ...body: readonly Code[]): Code => [
  ...[0x03, 0x40],
  ...body.flat(),
  ...[...a, ...b, 0x49, 0x0d, 0x00, 0x0b],
];

export const splat = (value: Code): Code => [...value, ...vector(0x11)];
export const loadSplat = (from: Code, offset = 0): Code => [...from, ...vector(0x09, ...at(offset))];
export const loadVector = (from: Code, offset = 0): Code => [...from, ...vector(0x00, ...at(offset))];
/** Eight bytes as eight words of 16 bits. */
export const loadBytesAsWords = (from: Code): Code => [...from, ...vector(0x02, ...at(0))];
/** Two neighbouring pixels of three bytes, the first of them pixel 0 to 3 of sixteen bytes: channel after channel, their words side by side. */
export const pixelsAsPairs = (bytes: Code, pixel: number): Code => {
  // A place beyond 127 is a 0.
  const lanes = [0, 1, 2].flatMap((channel) => [pixel * 3 + channel, 128, pixel * 3 + 3 + channel, 128]);
  return [...bytes, ...vector(0x0c, ...lanes, 128, 128, 128, 128), ...vector(0x0e)];
};
/** The first, or the last, four words of each, side by side. */
export const lowPairs = (a: Code, b: Code): Code => [...a, ...b, ...vector(0x0d, ...[0, 2, 4, 6].flatMap(sideBySide))];
export const highPairs = (a: Code, b: Code): Code => [...a, ...b, ...vector(0x0d, ...[8, 10, 12, 14].flatMap(sideBySide))];
const sideBySide = (word: number) => [word, word + 1, word + 16, word + 17];
/** Of each pair of words the sum of its two products, as a number. */
export const multiplyPairs = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xba)];
export const addNumbers = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xae)];
export const shiftLeft = (numbers: Code, bits: number): Code => [...numbers, ...constant(bits), ...vector(0xab)];
export const shiftRight = (numbers: Code, bits: number): Code => [...numbers, ...constant(bits), ...vector(0xac)];
/** Eight numbers as eight bytes, clamped to 0 and 255. */
export const toClampedBytes = (low: Code, high: Code): Code => {
  const words = [...low, ...high, ...vector(0x85)];
  return [...words, ...words, ...vector(0x66)];
};
export const storeFourBytes = (to: Code, value: Code): Code => [...to, ...value, ...vector(0x5a, ...at(0), 0)];
export const storeEightBytes = (to: Code, value: Code): Code => [...to, ...value, ...vector(0x5b, ...at(0), 0)];

/** Two numbers of 64 bits with a point, read as 32 bits or from one of 64; they are rounded when they are stored as 32 bits. */
export const noDoubles: Code = vector(0x0c, ...new Array<number>(16).fill(0));
export const loadTwoFloatsAsDoubles = (from: Code, offset = 0): Code => [...from, ...vector(0x5d, ...at(offset)), ...vector(0x5f)];
export const loadSplatDouble = (from: Code): Code => [...from, ...vector(0x0a, ...at(0))];
export const addDoubles = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xf0)];
export const multiplyDoubles = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xf2)];
export const storeTwoFloats = (to: Code, doubles: Code, offset = 0): Code => [
  ...[...to, ...doubles, ...vector(0x5e)],
  ...vector(0x5b, ...at(offset), 0),
];

/** Four numbers of 32 bits with a point. */
export const splatFloat = (value: number): Code => [0x43, ...new Uint8Array(Float32Array.of(value).buffer), ...vector(0x13)];
export const multiplyFloats = (a: Code, b: Code): Code => [...a, ...b, ...vector(0xe6)];
/** Towards 0; what is no number becomes 0. */
export const truncateFloats = (floats: Code): Code => [...floats, ...vector(0xf8)];
