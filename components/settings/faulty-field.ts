import { type Failure } from "@/lib/contract/failure";

const fields = ["name", "baseUrl", "accountUrl", "key"] as const;
export type ConnectionField = (typeof fields)[number];

/** Which field a refusal is about, so that the reason stands beside it. The console begins its message with the field's name. */
export function faultyField({ status, message }: Failure): { name: ConnectionField; message: string } | undefined {
  if (status !== 400) return undefined;
  const said = /^(\w+):\s*(\S.*)$/s.exec(message);
  const name = fields.find((field) => field === said?.[1]);
  return name && { name, message: said?.[2] ?? message };
}
