import { type AssetsLook, lookParams, PAGE_SIZE, withoutLayers } from "@/components/assets/assets-address";
import { parseSearch } from "@/lib/contract/params";
import { type AssetsQuery, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { type SearchParams, toSearchParams } from "../params";

const pageParams = { ...lookParams, layers: { kind: "word", values: ["hidden", "shown"], default: "hidden" } } as const;

/** Each value is validated separately. Invalid values are replaced by their defaults and reported. Never throws. */
export function parseAssetsQuery(params: SearchParams): { query: AssetsQuery; look: AssetsLook; ignored: string[] } {
  const search = toSearchParams(params);
  const { query: ownQuery, ignored } = parseSearch(pageParams, search);
  const { layers, ...look } = ownQuery;
  const queryParams = Object.fromEntries(
    Object.keys(assetsQuerySchema.shape).flatMap((name) => {
      const value = search.get(name);
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = assetsQuerySchema.safeParse({ limit: PAGE_SIZE, ...queryParams });
  if (parsed.success) return { query: withoutLayers(parsed.data, layers), look, ignored };
  const invalidNames = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
  const validParams = Object.fromEntries(Object.entries(queryParams).filter(([name]) => !invalidNames.has(name)));
  return {
    query: withoutLayers(assetsQuerySchema.parse({ limit: PAGE_SIZE, ...validParams }), layers),
    look,
    ignored: [...[...invalidNames].map((name) => `${name}=${queryParams[name] ?? ""}`), ...ignored],
  };
}

/** The query for the first paint: for an endless list the chunk at the scroll position, otherwise the page. */
export function toFirstQuery(query: AssetsQuery, look: AssetsLook): AssetsQuery {
  if (look.by === "pages") return query;
  return { ...query, limit: PAGE_SIZE, offset: Math.floor(query.offset / PAGE_SIZE) * PAGE_SIZE };
}
