// Reads node catalogues, completely or class by class.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { getOwn } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { type NodeInfo, type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { createLimiter } from "@/lib/shared/async";
import { failed, type Result } from "@/lib/shared/result";
import { type Dependencies } from "../composition-type";
import { type CallInput } from "../upstream/build-request";
import { type Catalogue } from "../upstream/catalogue-reader";
import { type Upstream } from "../upstream/upstream";
import { redactForBrowser, type Source } from "./redact";

type CatalogueSource = Source & {
  composition: Dependencies<"classNames" | "nodeInfos" | "now">;
  upstream: Pick<Upstream, "call" | "catalogue">;
};

export async function readCatalogue(source: CatalogueSource, input?: CallInput): Promise<Result<Catalogue, Failure>> {
  const result = await source.upstream.catalogue(input);
  if (!result.ok) return failed(redactForBrowser(result.failure, source));
  source.composition.classNames.record(source.connection.id, result.value.classes);
  return result;
}

const CACHE_MS = 60_000;
/** Beyond this, reading the full catalogue is cheaper. */
const MAX_INDIVIDUAL_READS = 60;
const MAX_CONCURRENT_READS = 4;

/** Reads class by class if the service supports it, otherwise the full catalogue. Omits unknown classes. Returns undefined on failure. */
export async function readNodeInfos(source: CatalogueSource, classes: readonly string[]): Promise<ObjectInfo | undefined> {
  const { nodeInfos, now } = source.composition;
  const { id, baseUrl } = source.connection;
  const getCacheKey = (name: string) => `${id} ${baseUrl} ${name}`;
  // Collected first, because entries may expire while the others are read.
  const infos = new Map<string, NodeInfo | undefined>();
  for (const name of classes) {
    const cachedEntry = nodeInfos.get(getCacheKey(name));
    if (cachedEntry && now() - cachedEntry.atMs < CACHE_MS) infos.set(name, cachedEntry.info);
  }
  const missingClasses = classes.filter((name) => !infos.has(name));
  if (missingClasses.length > 0) {
    const classInfos = (await readClassesIndividually(source, missingClasses)) ?? (await readFromCatalogue(source, missingClasses));
    if (!classInfos) return undefined;
    for (const name of missingClasses) {
      infos.set(name, getOwn(classInfos, name));
      nodeInfos.set(getCacheKey(name), { info: getOwn(classInfos, name), atMs: now() });
    }
  }
  return Object.fromEntries([...infos].flatMap(([name, info]) => (info ? [[name, info]] : [])));
}

/** Returns undefined if a class could not be read individually. */
async function readClassesIndividually({ upstream }: CatalogueSource, classes: readonly string[]): Promise<ObjectInfo | undefined> {
  if (classes.length > MAX_INDIVIDUAL_READS) return undefined;
  const limit = createLimiter(MAX_CONCURRENT_READS);
  let hasFailed = false;
  const reads = classes.map((name) =>
    limit(async () => {
      const result = hasFailed ? undefined : await upstream.call(operations.getObjectInfoOf, { params: { class: name } });
      // Unknown classes return an empty object. If a request fails, the full catalogue is read instead.
      if (!result?.ok) hasFailed = true;
      return result?.ok ? result.value : {};
    }),
  );
  const infos = await Promise.all(reads);
  return hasFailed ? undefined : Object.fromEntries(infos.flatMap((info) => Object.entries(info)));
}

async function readFromCatalogue(source: CatalogueSource, classes: readonly string[]): Promise<ObjectInfo | undefined> {
  const catalogue = await readCatalogue(source);
  return catalogue.ok ? catalogue.value.pick(classes) : undefined;
}
