export type ConnectionFields = { name: string; baseUrl?: string; accountUrl?: string; key?: string; shared?: boolean };

/** An empty address or key is left out: on a change that means "as it was". */
export function readConnectionForm(data: FormData): ConnectionFields {
  const text = (name: string) => {
    const value = data.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const baseUrl = text("baseUrl");
  const accountUrl = text("accountUrl");
  const key = text("key");
  return {
    name: text("name"),
    ...(baseUrl && { baseUrl }),
    ...(accountUrl && { accountUrl }),
    ...(key && { key }),
    ...(data.get("shared") === "on" && { shared: true }),
  };
}
