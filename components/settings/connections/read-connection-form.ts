import { withScheme } from "@/lib/contract/base-url";

export type ConnectionFields = { name: string; baseUrl?: string; accountUrl?: string; key?: string; shared?: boolean };

/** An address without its scheme gets one. An empty base URL or key is left out: on a change that means "as it was". An empty account URL is sent: it takes the stored one away. */
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
