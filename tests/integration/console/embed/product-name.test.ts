// The product name in frames and on shares.
import { expect, it, vi } from "vitest";
import { PAGE_HEADER } from "@/lib/server/cookies";
import { readEnv } from "@/lib/server/env";
import { getRequestMessages, messagesByLanguage } from "@/lib/server/i18n/messages";
import { EMBED_PATH_HEADER } from "@/lib/shared/console-paths";
import { languages } from "@/lib/shared/languages";
import { createHarness } from "@/tests/support/harness";

const incoming = vi.hoisted(() => ({ headers: new Headers() }));
vi.mock("next/headers", () => ({ headers: () => Promise.resolve(incoming.headers) }));
await createHarness({ settings: { LIGHTDESK_PRODUCT_NAME: "Acme & Co. Studio" } });

it("shows the configured name in frames and shares, and Lightdesk to members", async () => {
  for (const language of languages) {
    for (const [name, value] of [
      [EMBED_PATH_HEADER, "/embed/0123456789abcdef01/abcdefgh1234"],
      [PAGE_HEADER, "/share/token"],
    ] as const) {
      incoming.headers = new Headers({ [name]: value });
      const text = JSON.stringify(await getRequestMessages(language));
      expect([text.includes("Lightdesk"), text.includes("Acme & Co. Studio")]).toEqual([false, true]);
    }
    incoming.headers = new Headers({ [PAGE_HEADER]: "/jobs" });
    expect(await getRequestMessages(language)).toBe(messagesByLanguage[language]);
  }
});

it("doesn't show a product name while a page opens in a frame", () => {
  for (const language of languages) expect(JSON.stringify(messagesByLanguage[language].embedding.start)).not.toContain("Lightdesk");
});

it("rejects a name with markup, placeholders or quotes, or that is too long", () => {
  for (const name of ["<b>", "{count}", 'a"b', "a'b", "a\\b", "x".repeat(61)])
    expect(() => readEnv({ LIGHTDESK_PRODUCT_NAME: name })).toThrow("LIGHTDESK_PRODUCT_NAME must be");
});
