import { type ApiFailure } from "@/lib/browser/read-failure";

const fields = ["name", "baseUrl", "accountUrl", "key"] as const;
export type ConnectionField = (typeof fields)[number];

/** Which field a 400 is about, so that the reason stands beside it. The console begins its message with the field's name. */
export function faultyField(failure: ApiFailure): { name: ConnectionField; message: string } | undefined {
  if (failure.status !== 400) return undefined;
  const [head, ...rest] = failure.message.split(/[:\s]/);
  const name = fields.find((field) => field === head);
  if (!name) return undefined;
  const message = rest.join(" ").trim();
  return { name, message: message || failure.message };
}
