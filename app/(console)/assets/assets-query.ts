import { PAGE_SIZE } from "@/components/assets/assets-address";
import { type AssetsQuery, assetsQuerySchema } from "@/lib/contract/schemas/asset";

type SearchParams = Record<string, string | string[] | undefined>;

/** Each value is judged by itself: a bad one falls back to its default and is named, the good ones stay. Never throws. */
export function parseAssetsQuery(params: SearchParams): { query: AssetsQuery; ignored: string[] } {
  const given = Object.fromEntries(
    Object.keys(assetsQuerySchema.shape).flatMap((name) => {
      const value = params[name];
      const text = Array.isArray(value) ? value.join(",") : value;
      return text === undefined || text === "" ? [] : [[name, text]];
    }),
  );
  const whole = assetsQuerySchema.safeParse({ limit: PAGE_SIZE, ...given });
  if (whole.success) return { query: whole.data, ignored: [] };
  const bad = new Set(whole.error.issues.map((issue) => String(issue.path[0])));
  const good = Object.fromEntries(Object.entries(given).filter(([name]) => !bad.has(name)));
  return {
    query: assetsQuerySchema.parse({ limit: PAGE_SIZE, ...good }),
    ignored: [...bad].map((name) => `${name}=${given[name] ?? ""}`),
  };
}
