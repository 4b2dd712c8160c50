import { type GraphNode } from "@/lib/contract/schemas/graph";
import { type FilePixels } from "../images/decode";
import { countPixels, type Raster, type Size, type Tick } from "../images/raster";

export type NodeValue = Raster | string | number | bigint | boolean | undefined;

export function isRaster(value: NodeValue): value is Raster {
  return typeof value === "object";
}

export function typeOf(value: NodeValue): string {
  if (isRaster(value)) return value.channels === 3 ? "IMAGE" : "MASK";
  if (typeof value === "string") return "STRING";
  if (typeof value === "boolean") return "BOOLEAN";
  return typeof value === "number" || typeof value === "bigint" ? "NUMBER" : "NOTHING";
}

export function describeValue(value: NodeValue): string {
  if (!isRaster(value)) return value === undefined ? "None" : String(value);
  const kind = value.channels === 3 ? "Image" : "Mask";
  return `${kind} ${value.width}x${value.height} x${value.frames.length}`;
}

export function pixelsIn(value: NodeValue): number {
  return isRaster(value) ? countPixels(value) : 0;
}

export type Choices = readonly (string | number | boolean)[];

export type InputField = {
  name: string;
  /** INT, FLOAT, STRING, BOOLEAN, IMAGE, MASK, COMBO, or * for anything. */
  type: string;
  choices?: Choices;
  /** Some classes declare a combo by its bare list, as older classes of ComfyUI do. */
  bareList?: boolean;
  /** As sent in the catalogue; absent if ComfyUI sends none. */
  options?: { default?: unknown; min?: number | bigint; max?: number | bigint; [option: string]: unknown };
  optional?: boolean;
  /** As a runner's catalogue describes it; a refusal then quotes this. */
  spec?: readonly unknown[];
  /** A literal of any form is accepted: only the runner knows what it may be. */
  isOpen?: boolean;
  /** The input names a file of the user, of any kind. */
  namesFile?: boolean;
};

export type OutputField = { type: string; name: string };

type FileRequest = {
  content: Buffer;
  extension: "png" | "webp";
  mimeType: string;
  displayName: string;
  size: Size;
  animated?: boolean;
};

type SavedFile = FileRequest & { type: "output" | "temp" };

export type NodeContext = {
  claim(size: Size, frames: number): void;
  tick: Tick;
  wait(milliseconds: number): Promise<void>;
  imagePath(name: string): string;
  readPixels(path: string): Promise<FilePixels>;
  pngText: Record<string, string>;
  nextNumber(prefix: string): number;
  save(file: SavedFile): Promise<void>;
  now(): Date;
};

/** Inputs by name, of the declared type; a wrong one throws InputError. */
export type NodeInputs = {
  image(name: string): Raster;
  mask(name: string): Raster;
  optionalMask(name: string): Raster | undefined;
  number(name: string): number;
  /** A BigInt if the value exceeds what a number holds. */
  integer(name: string): number | bigint;
  text(name: string): string;
  flag(name: string): boolean;
  choice<T extends string>(name: string, choices: readonly T[]): T;
  anything(name: string): NodeValue;
  /** The value as text; a FLOAT has its decimal point. */
  printed(name: string): string;
};

type NodeResult = { values: readonly NodeValue[]; texts?: string[] };

export type NodeDefinition = {
  name: string;
  displayName: string;
  description: string;
  category: string;
  inputs: readonly InputField[];
  hidden?: Record<string, unknown>;
  outputs: readonly OutputField[];
  isOutput?: boolean;
  deprecated?: boolean;
  /** False for a class that must run every time; then everything after it runs too. */
  cacheable?: boolean;
  imageInput?: string;
  run(inputs: NodeInputs, context: NodeContext): NodeResult | Promise<NodeResult>;
};

/** What the check of a graph knows about a class, wherever its nodes run. */
export type NodeDeclaration = Pick<NodeDefinition, "name" | "inputs" | "outputs" | "isOutput" | "imageInput"> & {
  /** It may read inputs that it does not declare. */
  takesMore?: true;
  /** Only runners have this class. It may have its own checks, so its lists and ranges never cause a refusal here. */
  isForeign?: true;
};
export type NodeLibrary = ReadonlyMap<string, NodeDeclaration>;

export class NodeFailure extends Error {
  constructor(
    readonly type: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = type;
  }
}

export const MAX_TEXT_BYTES = 1024 * 1024;
const MAX_SHOWN_BYTES = 4 * MAX_TEXT_BYTES;
const MAX_HELD_BYTES = 16 * MAX_TEXT_BYTES;

export function checkTexts(values: Iterable<NodeValue>): void {
  for (const value of values) {
    if (bytesOfText(value) > MAX_TEXT_BYTES) throw tooMuch(`A text of this node is larger than ${mebi(MAX_TEXT_BYTES)}`);
  }
}

export function createShownTexts(): (texts: readonly string[]) => void {
  let shownBytes = 0;
  return (texts) => {
    const totalBytes = shownBytes + sumOfTexts(texts);
    if (totalBytes > MAX_SHOWN_BYTES) throw tooMuch(`The texts that this job shows are larger than ${mebi(MAX_SHOWN_BYTES)} together`);
    shownBytes = totalBytes;
  };
}

export function checkCachedTexts(bytes: number): void {
  if (bytes > MAX_HELD_BYTES) throw tooMuch(`The texts that this job holds at once are larger than ${mebi(MAX_HELD_BYTES)} together`);
}

export function sumOfTexts(values: readonly NodeValue[]): number {
  return values.reduce<number>((sum, value) => sum + bytesOfText(value), 0);
}

function bytesOfText(value: NodeValue): number {
  return typeof value === "string" ? Buffer.byteLength(value) : 0;
}

function tooMuch(message: string): NodeFailure {
  return new NodeFailure("OOMError", `${message}, the most that this service allows. Use shorter texts.`);
}

function mebi(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}

type Options = NonNullable<InputField["options"]>;

export function field(type: string, name: string, options?: Options): InputField {
  return options === undefined ? { name, type } : { name, type, options };
}

export function optional(input: InputField): InputField {
  return { ...input, optional: true };
}

export function bareList(name: string, choices: Choices, options?: Options): InputField {
  return { ...field("COMBO", name, options), choices, bareList: true };
}

export function combo(name: string, choices: Choices): InputField {
  return { name, type: "COMBO", choices, options: { multiselect: false } };
}

export function pixels(name: string, preset: number, min: number, step = 1): InputField {
  return field("INT", name, { default: preset, min, max: 16384, step });
}

export function output(type: string, name = type): OutputField {
  return { type, name };
}

export const image = (name = "image") => field("IMAGE", name, {});
export const bareImage = (name = "image") => field("IMAGE", name);
export const mask = (name = "mask") => field("MASK", name, {});

export type ParsedNode = { id: string; node: GraphNode; definition: NodeDeclaration };

/** By id, in graph order. */
export type ParsedGraph = ReadonlyMap<string, ParsedNode>;
