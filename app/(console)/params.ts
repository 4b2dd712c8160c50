import { withQuery } from "@/lib/browser/urls";
import { type ViewScreen } from "@/lib/contract/console";
import { decodePercent } from "@/lib/contract/plain-line";
import { type Context } from "@/lib/server/auth/viewer";
import { redirectInConsole } from "@/lib/server/bff/open-page";
import { defaultView } from "@/lib/server/queries/saved-views";

export type SearchParams = Record<string, string | string[] | undefined>;

/** Repeated names become a comma-separated list. */
export function toSearchParams(params: SearchParams): URLSearchParams {
  return new URLSearchParams(Object.entries(params).flatMap(([name, value = ""]) => [[name, [value].flat().join(",")]]));
}

/** Redirects a URL without parameters to the member's default view. Returns "all" if links must name the view to skip the default. */
export async function openDefaultView(context: Context, screen: ViewScreen, params: SearchParams): Promise<"all" | undefined> {
  const view = await defaultView(context, screen);
  const isBare = Object.keys(params).every((name) => name === "connection");
  if (view && view.query !== "" && isBare) {
    const connection = textParam(params, "connection");
    redirectInConsole(withQuery(`/${screen}`, { ...Object.fromEntries(new URLSearchParams(view.query)), connection }));
  }
  return view && "all";
}

export function textParam(params: SearchParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Decodes a path segment. An invalid segment is returned unchanged and matches nothing. */
export function pathParam(segment: string): string {
  return decodePercent(segment) ?? segment;
}
