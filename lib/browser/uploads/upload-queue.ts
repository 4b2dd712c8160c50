// Uploads that continue when the user opens another page. Starts items in order, with at most one upload per item, and ignores results of
// stopped, removed or restarted uploads. Call only from event handlers, never on the server.

import { createStore } from "zustand/vanilla";

/** Uses the network while a file is hashed, but lets each upload progress. */
const MAX_CONCURRENT = 3;

export type UploadQueue<T> = { items: readonly T[]; isPaused: boolean };
type RunningUpload<T> = {
  signal: AbortSignal;
  /** Ignored after the upload was stopped. */
  report: (fields: Partial<T>) => void;
  /** For values that remain valid after a stop. Ignored once the item was restarted. */
  reportLasting: (fields: Partial<T>) => void;
};
type Options<T> = {
  /** The next item to start. */
  nextItem: (items: readonly T[]) => T | undefined;
  initialFields: Partial<T>;
  /** Uploads one item and returns its outcome. */
  uploadFile: (item: T, upload: RunningUpload<T>) => Promise<Partial<T>>;
  /** `current`: the item just before its outcome. `started`: the item at the start of its upload. */
  onEnded?: (item: T, current: T, started: T) => void;
};

export function createUploadQueue<T extends { key: number }>({ nextItem, initialFields, uploadFile, onEnded }: Options<T>) {
  const store = createStore<UploadQueue<T>>(() => ({ items: [], isPaused: false }));
  const running = new Map<number, AbortController>();
  let lastKey = 0;

  const items = () => store.getState().items;
  const find = (key: number) => items().find((item) => item.key === key);
  function update(key: number, fields: Partial<T>): void {
    const index = items().findIndex((item) => item.key === key);
    const current = items()[index];
    if (current) store.setState({ items: items().with(index, { ...current, ...fields }) });
  }

  function startPending(): void {
    while (!store.getState().isPaused && running.size < MAX_CONCURRENT) {
      const item = nextItem(items());
      if (!item) return;
      void start(item);
    }
  }
  async function start(item: T): Promise<void> {
    const { key } = item;
    const controller = new AbortController();
    running.set(key, controller);
    const isCurrent = () => running.get(key) === controller;
    update(key, initialFields);
    const outcome = await uploadFile(item, {
      signal: controller.signal,
      report: (fields) => isCurrent() && update(key, fields),
      reportLasting: (fields) => (isCurrent() || !running.has(key)) && update(key, fields),
    });
    if (!isCurrent()) return;
    running.delete(key);
    const current = find(key);
    update(key, outcome);
    const endedItem = find(key);
    if (current && endedItem) onEnded?.(endedItem, current, item);
    startPending();
  }
  function stop(key: number): void {
    running.get(key)?.abort();
    running.delete(key);
  }

  return {
    get: store.getState,
    subscribe: store.subscribe,
    find,
    keysOf: (matches: (item: T) => boolean) => new Set(items().flatMap((item) => (matches(item) ? [item.key] : []))),
    change: update,
    startPending,
    stop,
    setPaused: (isPaused: boolean) => store.setState({ isPaused }),
    add(added: readonly ((key: number) => T)[]): void {
      store.setState({ items: [...items(), ...added.map((make) => make(++lastKey))] });
      startPending();
    },
    /** Aborts running uploads. */
    remove(keys: ReadonlySet<number>): void {
      keys.forEach(stop);
      store.setState({ items: items().filter(({ key }) => !keys.has(key)) });
      startPending();
    },
  };
}
