import { type AssetsDisplayOptions, displayParams, PAGE_SIZE, withLayerVisibility } from "@/components/assets/assets-urls";
import { withQuery } from "@/lib/browser/urls";
import { type ViewScreen } from "@/lib/contract/console";
import { parseSearch } from "@/lib/contract/params";
import { decodePercent } from "@/lib/contract/plain-line";
import { type AssetsQuery, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { type Context } from "@/lib/server/auth/viewer";
import { redirectInConsole } from "@/lib/server/bff/open-page";
import { getDefaultView } from "@/lib/server/queries/saved-views";

export type SearchParams = Record<string, string | string[] | undefined>;

/** Repeated names become a comma-separated list. */
export function toSearchParams(params: SearchParams): URLSearchParams {
  return new URLSearchParams(Object.entries(params).flatMap(([name, value = ""]) => [[name, [value].flat().join(",")]]));
}

/** Redirects a URL without a query to the member's default view. Returns "all" if links must name a view to skip the default one. */
export async function redirectToDefaultView(context: Context, screen: ViewScreen, params: SearchParams): Promise<"all" | undefined> {
  const view = await getDefaultView(context, screen);
  const hasNoQuery = Object.keys(params).every((name) => name === "connection");
  if (view && view.query !== "" && hasNoQuery) {
    const connection = getTextParam(params, "connection");
    redirectInConsole(withQuery(`/${screen}`, { ...Object.fromEntries(new URLSearchParams(view.query)), connection }));
  }
  return view && "all";
}

export function getTextParam(params: SearchParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Decodes a path segment. An invalid segment is returned unchanged and matches nothing. */
export function decodePathParam(segment: string): string {
  return decodePercent(segment) ?? segment;
}

const pageParams = { ...displayParams, layers: { kind: "word", values: ["hidden", "shown"], default: "hidden" } } as const;

/** Each value is validated separately. Invalid values are replaced by their defaults and reported. Never throws. */
export function parseAssetsQuery(params: SearchParams): { query: AssetsQuery; look: AssetsDisplayOptions; ignored: string[] } {
  const search = toSearchParams(params);
  const { query: pageQuery, ignored } = parseSearch(pageParams, search);
  const { layers, ...look } = pageQuery;
  const queryParams = Object.fromEntries(
    Object.keys(assetsQuerySchema.shape).flatMap((name) => {
      const value = search.get(name);
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = assetsQuerySchema.safeParse({ limit: PAGE_SIZE, ...queryParams });
  if (parsed.success) return { query: withLayerVisibility(parsed.data, layers), look, ignored };
  const invalidNames = new Set(parsed.error.issues.map((issue) => String(issue.path[0])));
  const validParams = Object.fromEntries(Object.entries(queryParams).filter(([name]) => !invalidNames.has(name)));
  return {
    query: withLayerVisibility(assetsQuerySchema.parse({ limit: PAGE_SIZE, ...validParams }), layers),
    look,
    ignored: [...[...invalidNames].map((name) => `${name}=${queryParams[name] ?? ""}`), ...ignored],
  };
}

/** Returns the query for the first paint. For an endless list, this is the chunk at the scroll position. */
export function toFirstQuery(query: AssetsQuery, look: AssetsDisplayOptions): AssetsQuery {
  if (look.by === "pages") return query;
  return { ...query, limit: PAGE_SIZE, offset: Math.floor(query.offset / PAGE_SIZE) * PAGE_SIZE };
}
