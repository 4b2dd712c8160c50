import { getOwn } from "@/lib/contract/json/json";
import { toPlainLine } from "@/lib/contract/plain-line";
import { type GraphNode } from "@/lib/contract/schemas/graph";
import { type FilePixels } from "../images/decode";
import { countPixels, type Raster, type Size, type Tick } from "../images/raster";

export type NodeValue = Raster | string | number | bigint | boolean | undefined;

export function isRaster(value: NodeValue): value is Raster {
  return typeof value === "object";
}

export function getValueType(value: NodeValue): string {
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

export function countValuePixels(value: NodeValue): number {
  return isRaster(value) ? countPixels(value) : 0;
}

export type Choices = readonly (string | number | boolean)[];

export type InputField = {
  name: string;
  /** INT, FLOAT, STRING, BOOLEAN, IMAGE, MASK, COMBO, or * for anything. */
  type: string;
  choices?: Choices;
  /** Some classes declare a combo by its list alone, as older classes of ComfyUI do. */
  isListOnly?: boolean;
  /** The options in the catalogue. Absent if ComfyUI sends none. */
  options?: { default?: unknown; min?: number | bigint; max?: number | bigint; [option: string]: unknown };
  optional?: boolean;
  /** The description in a runner's catalogue, which error messages quote. */
  spec?: readonly unknown[];
  /** Accepts any literal, because only the runner knows which values are valid. */
  isOpen?: boolean;
  /** The value is the name of one of the user's files, of any type. */
  isFileName?: boolean;
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
  claimPixels(size: Size, frames: number): void;
  tick: Tick;
  wait(milliseconds: number): Promise<void>;
  getImagePath(name: string): string;
  readPixels(path: string): Promise<FilePixels>;
  pngText: Record<string, string>;
  getNextNumber(prefix: string): number;
  saveFile(file: SavedFile): Promise<void>;
  now(): Date;
};

/** Reads an input by name. A value of another type throws InputError. */
export type NodeInputs = {
  image(name: string): Raster;
  mask(name: string): Raster;
  optionalMask(name: string): Raster | undefined;
  number(name: string): number;
  /** A BigInt if the value exceeds the range of a number. */
  integer(name: string): number | bigint;
  text(name: string): string;
  flag(name: string): boolean;
  choice<T extends string>(name: string, choices: readonly T[]): T;
  value(name: string): NodeValue;
  /** The value as text. A FLOAT has a decimal point. */
  asText(name: string): string;
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
  /** False for a class that must run every time, together with all nodes after it. */
  cacheable?: boolean;
  imageInput?: string;
  run(inputs: NodeInputs, context: NodeContext): NodeResult | Promise<NodeResult>;
};

/** The part of a class definition that graph validation uses. */
export type NodeDeclaration = Pick<NodeDefinition, "name" | "inputs" | "outputs" | "isOutput" | "imageInput"> & {
  /** The class may read inputs that it does not declare. */
  acceptsUndeclared?: true;
  /** Only runners have this class. It may have its own checks, so its lists and ranges are not checked here. */
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
const MAX_CACHED_BYTES = 16 * MAX_TEXT_BYTES;

export function checkTexts(values: Iterable<NodeValue>): void {
  for (const value of values) {
    if (countTextBytes(value) > MAX_TEXT_BYTES)
      throw createTextLimitError(`A text of this node is larger than ${formatMebibytes(MAX_TEXT_BYTES)}`);
  }
}

export function createShownTextsCheck(): (texts: readonly string[]) => void {
  let shownBytes = 0;
  return (texts) => {
    const totalBytes = shownBytes + sumTextBytes(texts);
    if (totalBytes > MAX_SHOWN_BYTES)
      throw createTextLimitError(`The texts this job shows are larger than ${formatMebibytes(MAX_SHOWN_BYTES)} in total`);
    shownBytes = totalBytes;
  };
}

export function checkCachedTexts(bytes: number): void {
  if (bytes > MAX_CACHED_BYTES)
    throw createTextLimitError(`The texts this job keeps in memory are larger than ${formatMebibytes(MAX_CACHED_BYTES)} in total`);
}

export function sumTextBytes(values: readonly NodeValue[]): number {
  return values.reduce<number>((sum, value) => sum + countTextBytes(value), 0);
}

function countTextBytes(value: NodeValue): number {
  return typeof value === "string" ? Buffer.byteLength(value) : 0;
}

function createTextLimitError(message: string): NodeFailure {
  return new NodeFailure("OOMError", `${message}, the limit of this service. Use shorter texts.`);
}

function formatMebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}

type Options = NonNullable<InputField["options"]>;

export function createField(type: string, name: string, options?: Options): InputField {
  return options === undefined ? { name, type } : { name, type, options };
}

export function toOptional(input: InputField): InputField {
  return { ...input, optional: true };
}

export function createListField(name: string, choices: Choices, options?: Options): InputField {
  return { ...createField("COMBO", name, options), choices, isListOnly: true };
}

export function createComboField(name: string, choices: Choices): InputField {
  return { name, type: "COMBO", choices, options: { multiselect: false } };
}

export function createPixelField(name: string, defaultValue: number, min: number, step = 1): InputField {
  return createField("INT", name, { default: defaultValue, min, max: 16384, step });
}

export function createOutput(type: string, name = type): OutputField {
  return { type, name };
}

export const createImageField = (name = "image") => createField("IMAGE", name, {});
export const createBareImageField = (name = "image") => createField("IMAGE", name);
export const createMaskField = (name = "mask") => createField("MASK", name, {});

export type ParsedNode = { id: string; node: GraphNode; definition: NodeDeclaration };

/** By id, in graph order. */
export type ParsedGraph = ReadonlyMap<string, ParsedNode>;

// A file's display name consists of a prefix, a number and an extension. Folders in the prefix are dropped.

type ImageInfo = { size: Size; frame: number; extension: string };

export function createDisplayName(prefix: string, image: ImageInfo, context: Pick<NodeContext, "getNextNumber" | "now">): string {
  const filledPrefix = fillPrefix(prefix, image, context.now());
  const baseName = toPlainLine(filledPrefix.split(/[\\/]/).at(-1) ?? "").slice(0, 150);
  const name = baseName === "" || baseName === "." || baseName === ".." ? "image" : baseName;
  return formatNumberedName(name, context.getNextNumber(name), image.extension);
}

/** Replaces the number of an earlier job in a display name with this job's next number. */
export function renumberDisplayName(displayName: string, getNextNumber: (prefix: string) => number): string {
  const match = /^(.*)_\d{5,}_\.([a-z]+)$/.exec(displayName);
  const [, name, extension] = match ?? [];
  return name === undefined || extension === undefined ? displayName : formatNumberedName(name, getNextNumber(name), extension);
}

function formatNumberedName(name: string, number: number, extension: string): string {
  return `${name}_${String(number).padStart(5, "0")}_.${extension}`;
}

function fillPrefix(prefix: string, { size, frame }: ImageInfo, now: Date): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  const placeholders: Record<string, string> = {
    "%width%": String(size.width),
    "%height%": String(size.height),
    "%batch_num%": String(frame),
    "%year%": String(now.getFullYear()),
    "%month%": pad(now.getMonth() + 1),
    "%day%": pad(now.getDate()),
    "%hour%": pad(now.getHours()),
    "%minute%": pad(now.getMinutes()),
    "%second%": pad(now.getSeconds()),
  };
  return prefix.replace(/%[a-z_]+%/g, (placeholder) => getOwn(placeholders, placeholder) ?? placeholder);
}
