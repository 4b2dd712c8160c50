// Node catalogues for handlers and queries: as a whole, and the descriptions of single classes.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { own } from "@/lib/contract/json/own";
import { operations } from "@/lib/contract/operations";
import { type NodeInfo, type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { createLimiter } from "@/lib/shared/async";
import { failed, type Result } from "@/lib/shared/result";
import { type Parts } from "../composition-type";
import { type Catalogue } from "../upstream/catalogue-reader";
import { type CallInput } from "../upstream/outgoing";
import { type Upstream } from "../upstream/upstream";
import { redactForBrowser, type Source } from "./redact";

type From = Source & { composition: Parts<"classNames" | "nodeInfos" | "now">; upstream: Pick<Upstream, "call" | "catalogue"> };

export async function readCatalogue(from: From, input?: CallInput): Promise<Result<Catalogue, Failure>> {
  const result = await from.upstream.catalogue(input);
  if (!result.ok) return failed(redactForBrowser(result.failure, from));
  from.composition.classNames.record(from.connection.id, result.value.classes);
  return result;
}

const CACHE_MS = 60_000;
/** The whole catalogue costs less than more requests for single classes. */
const MAX_SINGLE_CLASSES = 60;
const MAX_CONCURRENT_READS = 4;

/** Class by class where the service offers that, else from its whole catalogue. Undefined if it has neither; unknown classes are left out. */
export async function readNodeInfos(from: From, classes: readonly string[]): Promise<ObjectInfo | undefined> {
  const { nodeInfos, now } = from.composition;
  const { id, baseUrl } = from.connection;
  const keyOf = (name: string) => `${id} ${baseUrl} ${name}`;
  const freshEntry = (name: string) => {
    const cached = nodeInfos.get(keyOf(name));
    return cached && now() - cached.atMs < CACHE_MS ? cached : undefined;
  };
  const missing = classes.filter((name) => freshEntry(name) === undefined);
  if (missing.length > 0) {
    const classInfos = (await readClassesIndividually(from, missing)) ?? (await readFromCatalogue(from, missing));
    if (!classInfos) return undefined;
    for (const name of missing) nodeInfos.set(keyOf(name), { info: own(classInfos, name), atMs: now() });
  }
  const cachedInfos = classes.map((name): [string, NodeInfo | undefined] => [name, freshEntry(name)?.info]);
  return Object.fromEntries(cachedInfos.flatMap(([name, info]) => (info ? [[name, info]] : [])));
}

/** Undefined if a class could not be read by itself. */
async function readClassesIndividually({ upstream }: From, classes: readonly string[]): Promise<ObjectInfo | undefined> {
  if (classes.length > MAX_SINGLE_CLASSES) return undefined;
  const inTurn = createLimiter(MAX_CONCURRENT_READS);
  let hasFailed = false;
  const reads = classes.map((name) =>
    inTurn(async () => {
      const result = hasFailed ? undefined : await upstream.call(operations.getObjectInfoOf, { params: { class: name } });
      // An unknown class is an empty object; any refusal leaves the answer to the whole catalogue.
      if (!result?.ok) hasFailed = true;
      return result?.ok ? result.value : {};
    }),
  );
  const infos = await Promise.all(reads);
  return hasFailed ? undefined : Object.fromEntries(infos.flatMap((info) => Object.entries(info)));
}

async function readFromCatalogue(from: From, classes: readonly string[]): Promise<ObjectInfo | undefined> {
  const catalogue = await readCatalogue(from);
  return catalogue.ok ? catalogue.value.pick(classes) : undefined;
}
