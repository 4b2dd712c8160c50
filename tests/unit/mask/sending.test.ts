// The upload of a mask as a browser makes it, and how the answer is read.
import { afterEach, expect, it, vi } from "vitest";
import { sendMask } from "@/components/mask/file/save-mask";
import { failed, ok } from "@/lib/shared/result";

/** Replaces the browser's XMLHttpRequest and answers at once. */
function browser({ answer, stored = 200 }: { answer: object; stored?: number }) {
  const asked: string[] = [];
  const forms: FormData[] = [];
  class Answering {
    upload = {};
    status = 200;
    responseText = JSON.stringify(answer);
    onload: () => void = () => undefined;
    open = (method: string, path: string) => void asked.push(`${method} ${path}`);
    setRequestHeader = () => undefined;
    getResponseHeader = () => null;
    send = (form: FormData) => {
      forms.push(form);
      this.onload();
    };
  }
  vi.stubGlobal("XMLHttpRequest", Answering);
  vi.stubGlobal("fetch", async (path: string, { method }: RequestInit) => {
    asked.push(`${String(method)} ${path}`);
    return new Response(null, { status: stored });
  });
  return { asked, forms };
}
afterEach(() => vi.unstubAllGlobals());

const file = new Blob(["png"], { type: "image/png" });
const options = { onProgress: () => undefined, signal: new AbortController().signal, handsOut: true };
const ref = { filename: "cat.png", subfolder: "", type: "input" };
const named = { name: "m.png", subfolder: "", type: "input" };
const head = "HEAD /api/view?filename=m.png&type=input&connection=c";

it("says what the original is before its bytes, under a name that the family knows a mask by", async () => {
  const { asked, forms } = browser({ answer: { ...named, metadata: { is_mask: true } } });
  expect(await sendMask("c")(file, ref, options)).toEqual(ok({ ...named, metadata: { is_mask: true } }));
  expect(asked).toEqual(["POST /api/upload/mask?connection=c"]);
  const [form] = forms;
  expect([...(form?.keys() ?? [])]).toEqual(["original_ref", "image"]);
  expect(form?.get("original_ref")).toBe('{"filename":"cat.png","subfolder":"","type":"input"}');
  const image = form?.get("image");
  expect(image instanceof File && image.name).toMatch(/^clipspace-mask-\d+\.png$/);
});

it("looks for what a plain local server says it stored: it says so of an original that it did not find, too", async () => {
  const there = browser({ answer: named });
  expect(await sendMask("c")(file, ref, options)).toEqual(ok(named));
  expect(there.asked.at(-1)).toBe(head);
  browser({ answer: named, stored: 404 });
  expect(await sendMask("c")(file, ref, options)).toEqual(failed({ code: "NOT_FOUND", message: "", status: 404 }));
  browser({ answer: named, stored: 502 });
  expect(await sendMask("c")(file, ref, options)).toEqual(ok(named));
});

it("takes the word of a service that hands out no files, and no answer without a name", async () => {
  const { asked } = browser({ answer: named, stored: 404 });
  expect(await sendMask("c")(file, ref, { ...options, handsOut: false })).toEqual(ok(named));
  expect(asked).not.toContain(head);
  browser({ answer: {} });
  expect(await sendMask("c")(file, ref, options)).toMatchObject({ ok: false, failure: { code: "UPSTREAM_UNREADABLE" } });
});
