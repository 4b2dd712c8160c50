import { type Failure } from "@/lib/contract/failure";

/** Which form field a refusal is about, so that its hint is shown there. The console begins its message with the field's name. */
export function faultyField<Name extends string>({ status, message }: Failure, names: readonly Name[]): Name | undefined {
  if (status !== 400) return undefined;
  const named = /^(\w+)(?:\.\w+)*:\s*\S/.exec(message)?.[1];
  return names.find((name) => name === named);
}
