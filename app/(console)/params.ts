export type SearchParams = Record<string, string | string[] | undefined>;

/** A name that comes several times is a list. */
export function toSearchParams(params: SearchParams): URLSearchParams {
  return new URLSearchParams(Object.entries(params).flatMap(([name, value = ""]) => [[name, [value].flat().join(",")]]));
}

/** Nothing in the address says which list is meant, so that a member's default view may. */
export function isBareAddress(params: SearchParams): boolean {
  return Object.keys(params).every((name) => name === "connection");
}

export function textParam(params: SearchParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A segment of the path as text; one that is no valid encoding is taken as it is, and will not be found. */
export function pathParam(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
