// What a check of the installation found: a sentence, and what to do if something is wrong.
// Must never: hold a secret.

import "server-only";

export type Finding = {
  check: string;
  /** `noted`: works, but worth knowing. */
  state: "passed" | "noted" | "failed";
  text: string;
  remedy?: string;
};

export const passed = (check: string, text: string): Finding => ({ check, state: "passed", text });
export const noted = (check: string, text: string, remedy?: string): Finding => ({ check, state: "noted", text, remedy });
export const wrong = (check: string, text: string, remedy: string): Finding => ({ check, state: "failed", text, remedy });

/** A check that throws is a finding too. */
export async function attempt(check: string, look: () => Finding | Promise<Finding>, remedy = "See to the cause."): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return wrong(check, error instanceof Error ? error.message : String(error), remedy);
  }
}

export function sizeOf(bytes: number): string {
  return bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MiB` : `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
