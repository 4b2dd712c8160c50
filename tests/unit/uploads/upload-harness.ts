// An upload store whose service and hash worker are controlled by the test.
import { type AssetFields } from "@/components/transfers/uploads/asset-fields-form";
import { type UploadDependencies } from "@/components/transfers/uploads/upload-file";
import { type StoredAsset, type UploadItem } from "@/components/transfers/uploads/upload-item";
import { createUploadStore } from "@/components/transfers/uploads/upload-store";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type PoolOutcome } from "@/lib/browser/uploads/asset-from-hash";
import { failed, ok, type Result } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

type Step = "canBeRead" | "hash" | "byId" | "fromHash" | "send" | "change";
type Call = {
  step: Step;
  label: string;
  signal: AbortSignal;
  from?: number;
  progress?: (fraction: number) => void;
  respond: (value: unknown) => void;
};

export const defaultFields: AssetFields = { name: "", tags: ["input"], metadata: {} };
export const getHash = (name: string) => name.padEnd(64, "0").replace(/[^0-9a-f]/g, "a");
export const createStoredResult = (overrides: Partial<StoredAsset> = {}): Result<StoredAsset, ApiFailure> =>
  ok({ id: "asset-1", created_new: true, ...overrides });
export const createFailure = (status: number, code: string, overrides: Partial<ApiFailure> = {}): Result<StoredAsset, ApiFailure> =>
  failed({ code, message: "", status, ...overrides });
export const unknownHash: Result<undefined, ApiFailure> = ok(undefined);

const isPicture = ({ name }: File) => name.endsWith(".png");

export function createUploadHarness() {
  const calls: Call[] = [];
  let nowMs = 0;
  const storedIds: string[] = [];
  const runStep = <T>(step: Step, label: string, signal: AbortSignal, overrides: Partial<Call> = {}) =>
    new Promise<T>((resolve) => {
      const call: Call = { step, label, signal, ...overrides, respond: (value) => resolve(value as T) };
      calls.push(call);
    });
  const ports: UploadDependencies = {
    hash: (file, { from, signal, onProgress }) =>
      runStep<PoolOutcome>("hash", String(file.size), signal, {
        from: from?.offset,
        progress: (fraction) => onProgress?.(fraction * file.size),
      }),
    findById: (id, { signal }) => runStep("byId", id, signal),
    createFromHash: (hash, file, _about, { signal }) => runStep("fromHash", `${file.name} ${hash}`, signal),
    send: ({ id, file }, { signal, onProgress }) => runStep("send", `${file.name} ${id ?? "no id"}`, signal, { progress: onProgress }),
    isReadablePicture: (file) =>
      isPicture(file) ? runStep("canBeRead", file.name, new AbortController().signal) : Promise.resolve(undefined),
    saveChanges: (id, changes, { signal }) => runStep("change", `${id} ${JSON.stringify(changes)}`, signal),
    nowMs: () => nowMs,
  };
  const store = createUploadStore(ports, { onAssetStored: (id) => storedIds.push(id) });
  const getItem = (index = 0): UploadItem => {
    const upload = store.get().items[index];
    if (!upload) throw new Error(`There is no upload at index ${index}.`);
    return upload;
  };
  const listKinds = () => store.get().items.map(({ file, status }) => `${file.name} ${status.kind}`);
  const add = (...names: string[]) => store.add(names.map((name) => ({ file: new File([name], name), assetFields: defaultFields })));
  /** Resolves the oldest pending call of this step. */
  async function respond(step: Step, value: unknown): Promise<Call> {
    const call = await until(`a call of ${step}`, () => calls.find((call) => call.step === step));
    calls.splice(calls.indexOf(call), 1);
    call.respond(value);
    return call;
  }
  return {
    store,
    calls,
    storedIds,
    getItem,
    listKinds,
    add,
    respond,
    /** Adds a file, hashes it and responds to the lookup of its hash. */
    async addHashed(name: string, lookup: Result<StoredAsset | undefined, ApiFailure> = unknownHash) {
      add(name);
      await respond("hash", createHashedOutcome(name));
      return respond("fromHash", lookup);
    },
    waitForKind: (kind: UploadItem["status"]["kind"], index = 0) => until(kind, () => getItem(index).status.kind === kind),
    waitForThreeHashing: () => until("three are hashed", () => listKinds().filter((kind) => kind.endsWith("hashing")).length === 3),
    tick: (ms: number) => (nowMs += ms),
    getPendingCalls: (step: Step) => calls.filter((call) => call.step === step),
  };
}

export const createHashedOutcome = (name: string): PoolOutcome => ({ kind: "hashed", hash: getHash(name) });
