// What a node class is: its declaration, which everybody reads, and the work it does, which only a worker calls.
// A definition holds no state: the same class runs in many jobs at once.
// It must never reach around its context: pixels are claimed, rows ticked and files written through it.

import { type FilePixels } from "../images/decode";
import { type Raster, type Size } from "../images/raster";
import { type Tick } from "../images/tick";
import { type NodeValue } from "./values";

export type Choices = readonly (string | number | boolean)[];

export type InputField = {
  name: string;
  /** INT, FLOAT, STRING, BOOLEAN, IMAGE, MASK, COMBO, or * for anything. */
  type: string;
  /** Choices of a COMBO. */
  choices?: Choices;
  /** Some classes name a combo by its bare list, as older ones of the family do. */
  bareList?: boolean;
  /** As sent in the catalogue; absent where the family sends none. */
  options?: { default?: unknown; min?: number | bigint; max?: number | bigint; [option: string]: unknown };
  optional?: boolean;
  /** As a runner's catalogue describes it; then a refusal quotes that. */
  spec?: readonly unknown[];
  /** A literal of any shape is taken: only the runner knows what it may be. */
  isOpen?: boolean;
  /** It names a file of the user, of any kind. */
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
  /** Throws OutOfPixels when `frames` more of this size would go beyond the job's bound. */
  claim(size: Size, frames: number): void;
  /** Reports progress inside the node and ends the node by throwing when the job was cancelled. */
  tick: Tick;
  /** Resolves after that time, or rejects as soon as the job is cancelled. */
  wait(milliseconds: number): Promise<void>;
  /** Path of the file that an image name means; throws when the name means none. */
  imagePath(name: string): string;
  /** Of an image file, claimed before they are decoded. */
  readPixels(path: string): Promise<FilePixels>;
  /** What PNG files of this job carry. */
  pngText: Record<string, unknown>;
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
  /** A BigInt beyond what a number holds. */
  integer(name: string): number | bigint;
  text(name: string): string;
  flag(name: string): boolean;
  choice<T extends string>(name: string, choices: readonly T[]): T;
  anything(name: string): NodeValue;
  /** The value as text, a FLOAT with its point. */
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
  /** False for what must run every time; so must everything behind it. */
  cacheable?: boolean;
  /** The input that names an image file. */
  imageInput?: string;
  run(inputs: NodeInputs, context: NodeContext): NodeResult | Promise<NodeResult>;
};

/** What a class is to whoever checks a graph, wherever its nodes run. */
export type NodeDeclaration = Pick<NodeDefinition, "name" | "inputs" | "outputs" | "isOutput" | "imageInput"> & {
  /** It may read inputs that it does not declare. */
  takesMore?: true;
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
