import { describe, expect, it } from "vitest";
import { createUploadStore, type SendAsset, type UploadedAsset } from "@/components/assets/upload-store";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

/** A line on which each file waits until the test lets it through. */
function line() {
  const sent: {
    name: string;
    finish: (result: Result<UploadedAsset, ApiFailure>) => void;
    progress: (share: number) => void;
    signal: AbortSignal;
  }[] = [];
  const send: SendAsset = ({ file }, { onProgress, signal }) =>
    new Promise((finish) => sent.push({ name: file.name, finish, progress: onProgress, signal }));
  const store = createUploadStore(send);
  const kinds = () => store.get().map(({ file, status }) => `${file.name} ${status.kind}`);
  return { store, sent, kinds };
}

const files = (...names: string[]) => names.map((name) => new File(["x"], name));
const failure = { code: "TRUNCATED_UPLOAD", message: "", status: 400 };

describe("uploads", () => {
  it("go two at a time, in the order of choosing, each one once", async () => {
    const { store, sent, kinds } = line();
    store.add(files("a", "b", "c"));
    expect(kinds()).toEqual(["a sending", "b sending", "c waiting"]);
    sent[1]?.finish(ok({ id: "1", created_new: true }));
    await until("c is on its way", () => sent.length === 3);
    expect(kinds()).toEqual(["a sending", "b done", "c sending"]);
    expect(sent.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  it("tell how far each one is, and content that was there already", async () => {
    const { store, sent } = line();
    store.add(files("a"));
    sent[0]?.progress(0.4);
    expect(store.get()[0]?.status).toEqual({ kind: "sending", share: 0.4 });
    sent[0]?.finish(ok({ id: "1", created_new: false }));
    await until("a is done", () => store.get()[0]?.status.kind === "done");
    expect(store.get()[0]?.status).toEqual({ kind: "done", assetId: "1", isNew: false });
  });

  it("that fail stay in sight until they are sent again by hand", async () => {
    const { store, sent, kinds } = line();
    store.add(files("a", "b"));
    sent[0]?.finish(failed(failure));
    await until("a has failed", () => kinds()[0] === "a failed");
    expect(sent).toHaveLength(2);
    store.again(store.get()[0]?.key ?? 0);
    expect(sent.map(({ name }) => name)).toEqual(["a", "b", "a"]);
    expect(kinds()).toEqual(["a sending", "b sending"]);
  });

  it("that are taken away end their connection and make room for the next", async () => {
    const { store, sent, kinds } = line();
    store.add(files("a", "b", "c"));
    store.remove(store.get()[0]?.key ?? 0);
    expect(sent[0]?.signal.aborted).toBe(true);
    expect(kinds()).toEqual(["b sending", "c sending"]);
    sent[0]?.finish(failed({ ...failure, code: "ABORTED" }));
    sent[0]?.progress(1);
    sent[1]?.finish(ok({ id: "2" }));
    await until("b is done", () => kinds()[0] === "b done");
    expect(kinds()).toEqual(["b done", "c sending"]);
    store.clear();
    expect(kinds()).toEqual(["c sending"]);
  });
});
