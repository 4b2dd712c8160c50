// One operation of the interface as data. Client, service, BFF, security suite and documents derive from it.

import { type z } from "zod";
import { type Capability } from "./capabilities";
import { type ErrorCode } from "./failure";
import { type KnownJobState } from "./jobs/job-list";
import { type Role } from "./members/roles";

export type OperationBody =
  { kind: "json"; schema: z.ZodType } | { kind: "multipart"; file: string; fields: z.ZodObject } | { kind: "octets" };

/** `bytes`: the content itself. `empty`: no body. `redirect`: a Location, which must be followed without the key. */
export type OperationResponse = { kind: "json"; schema: z.ZodType } | { kind: "bytes" } | { kind: "empty" } | { kind: "redirect" };

export type Operation = {
  name: string;
  summary?: string;
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  path: `/api/${string}`;
  /** The last path parameter, which may contain slashes. */
  tail?: string;
  tier: "core" | "extension";
  /** A core operation that a plain local server lacks, which identifies such a server. */
  isLackedByLocal?: true;
  capability?: Capability;
  role: Role;
  /** Reads only jobs, or files that may be outputs of jobs. Members who see only the jobs of a connection may call it. */
  reads?: "jobs" | "jobFiles";
  query?: z.ZodObject;
  fixedQuery?: Readonly<Record<string, unknown>>;
  /** What a 404 may mean besides a missing operation. All except `other` can be looked up. */
  item?: "asset" | "job" | "task" | "file" | "other";
  body?: OperationBody;
  clears?: readonly KnownJobState[];
  /** Error codes of the embedded service that do not follow from the operation's properties. */
  refusals?: readonly ErrorCode[];
  bodyRefusal?: z.ZodType;
  responses: Readonly<Record<number, OperationResponse>>;
  subject?: Subject;
};

/** Lists that every service has. The response has this name as a field, and one invalid row does not affect the others. */
const coreLists = ["jobs", "history", "assets"] as const;
/** The content of a response, for code that stores parts of it: names, the job index and seen images. */
export type Subject = (typeof coreLists)[number] | "job" | "jobStatus" | "asset" | "submission" | "removal" | "nodes";

export function findCoreList({ subject }: Operation): (typeof coreLists)[number] | undefined {
  return coreLists.find((list) => list === subject);
}

export function isRead({ method }: Pick<Operation, "method">): boolean {
  return method === "GET" || method === "HEAD";
}

/** The bytes are sent in ranges and requested by their ETag. */
export function hasRanges({ responses }: Operation): boolean {
  return 206 in responses;
}

export function returnsBytes({ responses }: Operation): boolean {
  return Object.values(responses)[0]?.kind === "bytes";
}

type Definition = Omit<Operation, "name" | "tier" | "role"> & Partial<Pick<Operation, "role">>;
/** A misspelt optional field is an error. */
type OnlyKnownFields<T> = { [N in keyof T]: Record<Exclude<keyof T[N], keyof Definition>, never> };
type DefinedOperations<T> = { [N in keyof T]: T[N] & { name: N; tier: Operation["tier"]; role: Role } };

/** The key is the name. Operations with a capability are extensions. By default, reads require a viewer and changes an operator. */
export function defineOperations<const T extends Record<string, Definition>>(table: T & OnlyKnownFields<T>): DefinedOperations<T>;
export function defineOperations(table: Record<string, Definition>): Record<string, Operation> {
  const entries = Object.entries(table).map(([name, definition]): [string, Operation] => {
    const tier = definition.capability ? "extension" : "core";
    return [name, { role: isRead(definition) ? "viewer" : "operator", ...definition, name, tier }];
  });
  return Object.fromEntries(entries);
}

export function json<const S extends z.ZodType>(schema: S): { kind: "json"; schema: S } {
  return { kind: "json", schema };
}

export type QueryOf<O extends Operation> = O extends { query: infer S extends z.ZodObject } ? z.output<S> : undefined;

export type BodyOf<O extends Operation> = O extends { body: { schema: infer S extends z.ZodType } } ? z.output<S> : undefined;

type ResponseValue<A> = A extends { kind: "json"; schema: infer S extends z.ZodType } ? z.output<S> : undefined;

export type ResponseOf<O extends Operation> = { [S in keyof O["responses"]]: ResponseValue<O["responses"][S]> }[keyof O["responses"]];

export function fillPath(path: Operation["path"], params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`path parameter ${name} of ${path} is missing`);
    return encodeURIComponent(value);
  });
}
