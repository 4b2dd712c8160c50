// What a node class is: its declaration, which any code may read, and the work it does, which only a worker calls.
// A definition holds no state: the same class runs in many jobs at once.
// Must never: bypass its context; pixels are claimed, rows ticked and files written through it.

import { type FilePixels } from "../images/decode";
import { type Tick } from "../images/frame";
import { type Raster, type Size } from "../images/raster";
import { type NodeValue } from "./values";

export type Choices = readonly (string | number | boolean)[];

export type InputField = {
  name: string;
  /** INT, FLOAT, STRING, BOOLEAN, IMAGE, MASK, COMBO, or * for anything. */
  type: string;
  /** Choices of a COMBO. */
  choices?: Choices;
  /** Some classes declare a combo by its bare list, as older classes of the family do. */
  bareList?: boolean;
  /** As sent in the catalogue; absent if the family sends none. */
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

export type FileWish = {
  content: Buffer;
  extension: "png" | "webp";
  mimeType: string;
  displayName: string;
  size: Size;
  animated?: boolean;
};

export type SavedFile = FileWish & { type: "output" | "temp" };

export type NodeContext = {
  /** Throws OutOfPixels if `frames` more of this size would exceed the job's bound. */
  claim(size: Size, frames: number): void;
  /** Reports progress inside the node; throws if the job was cancelled, which ends the node. */
  tick: Tick;
  /** Resolves after that time, or rejects as soon as the job is cancelled. */
  wait(milliseconds: number): Promise<void>;
  /** The path of the file that an image name means; throws if the name means none. */
  imagePath(name: string): string;
  /** The pixels of an image file; they are claimed before they are decoded. */
  readPixels(path: string): Promise<FilePixels>;
  /** The texts that PNG files of this job carry. */
  pngText: Record<string, string>;
  /** Counts from 1 for each prefix of the job. */
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

export type NodeResult = { values: readonly NodeValue[]; texts?: string[] };

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
  /** The input that names an image file. */
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

/** Ends a node with a type that the error of the job names. */
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
