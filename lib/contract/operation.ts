// The shape of one operation of the interface, as data. Client, service, BFF, security suite and documents are derived from it.

import { type z } from "zod";
import { type Capability } from "./capabilities";
import { type ErrorCode } from "./errors";
import { type Role } from "./people/roles";

export type OperationBody =
  | { kind: "json"; schema: z.ZodType }
  /** `file` is the name of the part that holds the bytes; `fields` are the text parts. */
  | { kind: "multipart"; file: string; fields: z.ZodObject }
  | { kind: "octets" };

/** `bytes`: the content itself. `empty`: no body. `redirect`: a Location that must be followed without the key. */
export type OperationAnswer = { kind: "json"; schema: z.ZodType } | { kind: "bytes" } | { kind: "empty" } | { kind: "redirect" };

export type Operation = {
  /** The resource and the verb, in the interface's words. */
  name: string;
  /** One sentence for the embedded service's document; without it, only other services have the operation. */
  summary?: string;
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** From /api on; parameters in braces, in the interface's spelling. */
  path: `/api/${string}`;
  tier: "core" | "extension";
  /** Core, and yet a plain local server lacks it: that is how such a server is known. */
  isLackedByLocal?: true;
  /** Of an extension: what a connection must have for it. */
  capability?: Capability;
  /** The weakest role of a team member who may call it through the console. */
  role: Role;
  query?: z.ZodObject;
  /** What the console asks in the query whatever it was asked itself. */
  alwaysAsked?: Readonly<Record<string, unknown>>;
  /**
   * What a 404 may speak of instead of the operation. All but `other` can be looked up: where the item is there, the operation is not.
   * Without it a 404 says that there is no such operation.
   */
  item?: "asset" | "job" | "task" | "file" | "other";
  body?: OperationBody;
  /** What the embedded service refuses besides what follows from the operation's shape. */
  refusals?: readonly ErrorCode[];
  /** What is wrong with the body is answered as this, in place of the usual envelope. */
  bodyRefusal?: z.ZodType;
  answers: Readonly<Record<number, OperationAnswer>>;
  tells?: Subject;
};

/** Lists that every service has: an answer holds them under this name, and one odd row does not spoil the others. */
const coreLists = ["jobs", "history", "assets"] as const;
/** What an answer is about, for the parts that keep some of it: names, the ledger of jobs, pictures seen. */
export type Subject = (typeof coreLists)[number] | "job" | "jobStatus" | "asset" | "submission" | "removal" | "nodes";

export function coreListIn({ tells }: Operation): (typeof coreLists)[number] | undefined {
  return coreLists.find((list) => list === tells);
}

export function isRead({ method }: Operation): boolean {
  return method === "GET" || method === "HEAD";
}

/** The bytes come in ranges and are asked for by their ETag. */
export function hasRanges({ answers }: Operation): boolean {
  return 206 in answers;
}

/** Its answer is the content itself. */
export function answersBytes({ answers }: Operation): boolean {
  return Object.values(answers)[0]?.kind === "bytes";
}

export function defineOperation<const O extends Operation>(operation: O): O {
  return operation;
}

export function json<const S extends z.ZodType>(schema: S): { kind: "json"; schema: S } {
  return { kind: "json", schema };
}

/** What the query of an operation is read as. */
export type QueryOf<O extends Operation> = O extends { query: infer S extends z.ZodObject } ? z.output<S> : undefined;

/** What the JSON body of an operation is read as. */
export type BodyOf<O extends Operation> = O extends { body: { schema: infer S extends z.ZodType } } ? z.output<S> : undefined;

type AnswerValue<A> = A extends { kind: "json"; schema: infer S extends z.ZodType } ? z.output<S> : undefined;

/** The parsed answer of an operation, over all its success statuses. */
export type AnswerOf<O extends Operation> = { [S in keyof O["answers"]]: AnswerValue<O["answers"][S]> }[keyof O["answers"]];

/** Fills the braces of a path; every value is encoded as one segment. A missing value is a programming error. */
export function fillPath(path: Operation["path"], params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`path parameter ${name} of ${path} is missing`);
    return encodeURIComponent(value);
  });
}
