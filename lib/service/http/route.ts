// A route: an operation of the contract and its handler, with readers typed by the operation's schemas.

import { type BodyOf, type Operation, type QueryOf } from "@/lib/contract/operation";
import { type AccessTimes } from "../assets/access-times";
import { type BlobStore } from "../assets/blob-store";
import { type Folders } from "../assets/folders";
import { type AssetSearch } from "../assets/search/asset-search";
import { type Thumbnails } from "../assets/thumbnails";
import { type Downloads } from "../downloads/downloads";
import { type JobEvents } from "../events/job-events";
import { type Engine } from "../jobs/run/engine";
import { type LiveRuns } from "../jobs/run/live-runs";
import { type ServiceLog } from "../options";
import { type Pool } from "../runners/pool";
import { type ServiceSettings } from "../settings";
import { type Database } from "../store/database";
import { type User } from "../users/keys";

export type RequestParts = {
  request: Request;
  /** The body as a stream, or undefined without a body. Read it once, instead of `request.body`. */
  bytes(): AsyncIterable<Uint8Array> | undefined;
  user: User;
  baseUrl: string;
};

/** Each reader validates when it is called, so the handler decides what is checked first. */
export type Call<O extends Operation> = RequestParts & {
  operation: O;
  param(name: NamesIn<O["path"]>): string;
  query(): QueryOf<O>;
  body(): Promise<BodyOf<O>>;
};

type AnyCall = RequestParts & { operation: Operation; param(name: string): string; query(): unknown; body(): Promise<unknown> };
type HandlerResult = Response | Promise<Response>;
export type Route = { operation: Operation; handle(call: AnyCall): HandlerResult };

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The router validates with the schemas that QueryOf and BodyOf are derived from. */
export function route<const O extends Operation>(operation: O, handle: (call: Call<O>) => HandlerResult): Route {
  return { operation, handle };
}

export type Parts = {
  database: Database;
  blobs: BlobStore;
  folders: Folders;
  engine: Engine;
  pool: Pool;
  events: JobEvents;
  liveRuns: LiveRuns;
  thumbnails: Thumbnails;
  accessTimes: AccessTimes;
  assetSearch: AssetSearch;
  downloads: Downloads;
  settings: ServiceSettings;
  publicUrl?: string;
  now: () => number;
  log: ServiceLog;
};
