import { expect, test } from "vitest";
import { createFileUploads, type SendFile } from "@/components/files/uploads-list";
import { failed, ok } from "@/lib/shared/result";
import { eventually } from "@/tests/support/eventually";

const file = new File(["x"], "x");
const createFiles = (...paths: string[]) => paths.map((path) => ({ path, file }));
const conflict = failed({ code: "CONFLICT", message: "exists", status: 409 });

/** Creates a service that records uploads. Each upload waits until `finish` is called. */
function createService(existing: readonly string[]) {
  const existingPaths = new Set(existing);
  const waiting: { path: string; finish: () => void }[] = [];
  const send: SendFile = ({ path }, { overwrite }) =>
    new Promise((resolve) => {
      const finish = () => {
        waiting.splice(
          waiting.findIndex((item) => item.path === path),
          1,
        );
        if (existingPaths.has(path) && !overwrite) return resolve(conflict);
        existingPaths.add(path);
        resolve(ok(undefined));
      };
      waiting.push({ path, finish });
    });
  return { send, stored: existingPaths, waiting };
}
const listStates = (uploads: ReturnType<typeof createFileUploads>) => uploads.get().map(({ path, state }) => `${path} ${state}`);

test("uploads three files at a time", async () => {
  const service = createService([]);
  const uploads = createFileUploads(service.send);
  uploads.add(createFiles("a", "b", "c", "d"), undefined);
  expect(service.waiting.map(({ path }) => path)).toEqual(["a", "b", "c"]);
  service.waiting[1]?.finish();
  await eventually(() => expect(service.waiting.map(({ path }) => path)).toEqual(["a", "c", "d"]));
});

test("reports upload progress and a failure and restarts on a retry", async () => {
  const requests: { onProgress: (share: number) => void; respond: (result: Awaited<ReturnType<SendFile>>) => void }[] = [];
  const uploads = createFileUploads((_, { onProgress }) => new Promise((respond) => requests.push({ onProgress, respond })));
  uploads.add(createFiles("a"), undefined);
  requests[0]?.onProgress(0.5);
  expect(uploads.get()[0]).toMatchObject({ state: "sending", share: 0.5 });
  const failure = { code: "UPSTREAM_UNREACHABLE", message: "", status: 502 };
  requests[0]?.respond(failed(failure));
  await eventually(() => expect(uploads.get()[0]).toMatchObject({ state: "failed", failure }));
  uploads.retry(uploads.get()[0]?.key ?? 0);
  expect(uploads.get()[0]).toMatchObject({ state: "sending", share: undefined });
  requests[1]?.respond(ok(undefined));
  await eventually(() => expect(listStates(uploads)).toEqual(["a stored"]));
  uploads.clear();
  expect(uploads.get()).toEqual([]);
});

test("confirms existing files and replaces or keeps each", async () => {
  const service = createService(["a", "b"]);
  const uploads = createFileUploads(service.send);
  uploads.add(createFiles("a", "b", "c"), undefined);
  for (const { finish } of [...service.waiting]) finish();
  await eventually(() => expect(listStates(uploads)).toEqual(["a conflict", "b conflict", "c stored"]));
  const [a, b] = uploads.get();
  uploads.resolveConflict(a?.key ?? 0, "replace", false);
  uploads.resolveConflict(b?.key ?? 0, "keep", false);
  expect(listStates(uploads)).toEqual(["a sending", "b skipped", "c stored"]);
  service.waiting[0]?.finish();
  await eventually(() => expect(listStates(uploads)[0]).toBe("a stored"));
});

test("applies one choice to later conflicts of the same batch only", async () => {
  const service = createService(["a", "b", "c", "d", "e"]);
  const uploads = createFileUploads(service.send);
  uploads.add(createFiles("a", "b", "c", "d"), undefined);
  uploads.add(createFiles("e"), undefined);
  service.waiting[0]?.finish();
  await eventually(() => expect(listStates(uploads)[0]).toBe("a conflict"));
  uploads.resolveConflict(uploads.get()[0]?.key ?? 0, "keep", true);
  while (service.waiting.length > 0) {
    service.waiting[0]?.finish();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(listStates(uploads)).toEqual(["a skipped", "b skipped", "c skipped", "d skipped", "e conflict"]);
});

test("cancels a removed file and starts the next", () => {
  const service = createService([]);
  const signals: AbortSignal[] = [];
  const uploads = createFileUploads((upload, options) => {
    signals.push(options.signal);
    return service.send(upload, options);
  });
  uploads.add(createFiles("a", "b", "c", "d"), undefined);
  uploads.remove(uploads.get()[0]?.key ?? 0);
  expect(signals[0]?.aborted).toBe(true);
  expect(listStates(uploads)).toEqual(["b sending", "c sending", "d sending"]);
});

test("keeps stored files when stopped and resumes the others on demand", async () => {
  const service = createService(["b"]);
  const signals: AbortSignal[] = [];
  const uploads = createFileUploads((upload, options) => {
    signals.push(options.signal);
    return service.send(upload, options);
  });
  uploads.add(createFiles("a", "b", "c", "d", "e"), undefined);
  service.waiting[0]?.finish();
  service.waiting[0]?.finish();
  await eventually(() => expect(listStates(uploads)).toEqual(["a stored", "b conflict", "c sending", "d sending", "e sending"]));
  uploads.stopAll();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true, true, true]);
  expect(listStates(uploads)).toEqual(["a stored", "b stopped", "c stopped", "d stopped", "e stopped"]);
  // A file that was sent completely before it was stopped is stored.
  service.waiting[0]?.finish();
  await eventually(() => expect(listStates(uploads)[2]).toBe("c stored"));
  uploads.retryAll();
  expect(listStates(uploads)).toEqual(["a stored", "b sending", "c stored", "d sending", "e sending"]);
});
