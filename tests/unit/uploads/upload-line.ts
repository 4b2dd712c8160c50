// A service and a worker for the upload queue, controlled by the test.
import { type AssetFields } from "@/components/transfers/uploads/asset-fields-form";
import { type UploadPorts } from "@/components/transfers/uploads/upload-file";
import { type StoredAsset, type UploadItem } from "@/components/transfers/uploads/upload-item";
import { createUploadStore } from "@/components/transfers/uploads/upload-store";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type PoolOutcome } from "@/lib/browser/uploads/offer-hash";
import { failed, ok, type Result } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

type Step = "canBeRead" | "hash" | "byId" | "fromHash" | "send" | "change";
type Call = {
  step: Step;
  what: string;
  signal: AbortSignal;
  from?: number;
  progress?: (share: number) => void;
  answer: (value: unknown) => void;
};

export const defaultFields: AssetFields = { name: "", tags: ["input"], metadata: {} };
export const getHash = (name: string) => name.padEnd(64, "0").replace(/[^0-9a-f]/g, "a");
export const storedResult = (overrides: Partial<StoredAsset> = {}): Result<StoredAsset, ApiFailure> =>
  ok({ id: "asset-1", created_new: true, ...overrides });
export const refused = (status: number, code: string, overrides: Partial<ApiFailure> = {}): Result<StoredAsset, ApiFailure> =>
  failed({ code, message: "", status, ...overrides });
export const unknownHash: Result<undefined, ApiFailure> = ok(undefined);

const isPicture = ({ name }: File) => name.endsWith(".png");

export function line() {
  const calls: Call[] = [];
  let nowMs = 0;
  const announced: string[] = [];
  const runStep = <T>(step: Step, label: string, signal: AbortSignal, overrides: Partial<Call> = {}) =>
    new Promise<T>((resolve) => {
      const call: Call = { step, what: label, signal, ...overrides, answer: (value) => resolve(value as T) }; // the test chooses the step's response
      calls.push(call);
    });
  const ports: UploadPorts = {
    hash: (file, { from, signal, onProgress }) =>
      runStep<PoolOutcome>("hash", String(file.size), signal, { from: from?.offset, progress: (share) => onProgress?.(share * file.size) }),
    byId: (id, { signal }) => runStep("byId", id, signal),
    fromHash: (hash, file, _about, { signal }) => runStep("fromHash", `${file.name} ${hash}`, signal),
    send: ({ id, file }, { signal, onProgress }) => runStep("send", `${file.name} ${id ?? "no id"}`, signal, { progress: onProgress }),
    canBeRead: (file) => (isPicture(file) ? runStep("canBeRead", file.name, new AbortController().signal) : Promise.resolve(undefined)),
    change: (id, changes, { signal }) => runStep("change", `${id} ${JSON.stringify(changes)}`, signal),
    nowMs: () => nowMs,
  };
  const store = createUploadStore(ports, {
    storedAsset: (id) => announced.push(id),
  });
  const item = (at = 0): UploadItem => {
    const upload = store.get().items[at];
    if (!upload) throw new Error(`no file ${at}`);
    return upload;
  };
  return {
    store,
    calls,
    announced,
    item,
    kinds: () => store.get().items.map(({ file, status }) => `${file.name} ${status.kind}`),
    add: (...names: string[]) => store.add(names.map((name) => ({ file: new File([name], name), assetFields: defaultFields }))),
    tick: (ms: number) => (nowMs += ms),
    /** Resolves the next open call of this step. */
    async answer(step: Step, value: unknown): Promise<Call> {
      const call = await until(`a call of ${step}`, () => calls.find((call) => call.step === step));
      calls.splice(calls.indexOf(call), 1);
      call.answer(value);
      return call;
    },
    waiting: (step: Step) => calls.filter((call) => call.step === step),
  };
}

export const toHashed = (name: string): PoolOutcome => ({ kind: "hashed", hash: getHash(name) });
