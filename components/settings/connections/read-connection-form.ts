import { withScheme } from "@/lib/contract/connections";

export type ConnectionFields = { name: string; baseUrl?: string; accountUrl?: string; key?: string; shared?: boolean };

/**
 * Adds a missing scheme to an address. An empty base URL or key is left out, which keeps the stored one; an empty account URL is sent,
 * which removes the stored one.
 */
export function readConnectionForm(data: FormData): ConnectionFields {
  const text = (name: string) => {
    const value = data.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  const baseUrl = withScheme(text("baseUrl"));
  const key = text("key");
  return {
    name: text("name"),
    ...(baseUrl && { baseUrl }),
    ...(data.has("accountUrl") && { accountUrl: withScheme(text("accountUrl")) }),
    ...(key && { key }),
    ...(data.get("shared") === "on" && { shared: true }),
  };
}
