export type SearchParams = Record<string, string | string[] | undefined>;

/** A name that occurs several times is a list. */
export function toSearchParams(params: SearchParams): URLSearchParams {
  return new URLSearchParams(Object.entries(params).flatMap(([name, value = ""]) => [[name, [value].flat().join(",")]]));
}

/** The address does not say which list is meant, so the member's default view may decide. */
export function isBareAddress(params: SearchParams): boolean {
  return Object.keys(params).every((name) => name === "connection");
}

export function textParam(params: SearchParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Decodes a segment of the path; one that is badly encoded is used as it is, and will not be found. */
export function pathParam(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
