// Manages uploads that continue when the user opens another page. Starts items in order, with at most one upload per item. Ignores the
// results of stopped, removed or restarted uploads. Call only from event handlers, never on the server.

import { createStore } from "zustand/vanilla";

/** Keeps the network busy while a file is hashed, without slowing each upload too much. */
const MAX_CONCURRENT_UPLOADS = 3;

export type UploadQueueState<T> = { items: readonly T[]; isPaused: boolean };
type RunningUpload<T> = {
  signal: AbortSignal;
  /** Has no effect once the upload was stopped. */
  report: (fields: Partial<T>) => void;
  /** For values that remain valid after a stop. Has no effect once the item was restarted. */
  reportPersistent: (fields: Partial<T>) => void;
};
type UploadQueueOptions<T> = {
  /** The next item to start. */
  getNextItem: (items: readonly T[]) => T | undefined;
  initialFields: Partial<T>;
  /** Uploads one item and returns its outcome. */
  uploadFile: (item: T, upload: RunningUpload<T>) => Promise<Partial<T>>;
  /** `previousItem`: the item just before its outcome. `initialItem`: the item at the start of its upload. */
  onEnded?: (item: T, previousItem: T, initialItem: T) => void;
};

export function createUploadQueue<T extends { key: number }>({ getNextItem, initialFields, uploadFile, onEnded }: UploadQueueOptions<T>) {
  const store = createStore<UploadQueueState<T>>(() => ({ items: [], isPaused: false }));
  const controllers = new Map<number, AbortController>();
  let lastKey = 0;

  const getItems = () => store.getState().items;
  const find = (key: number) => getItems().find((item) => item.key === key);
  function update(key: number, fields: Partial<T>): void {
    const index = getItems().findIndex((item) => item.key === key);
    const item = getItems()[index];
    if (item) store.setState({ items: getItems().with(index, { ...item, ...fields }) });
  }

  function startPending(): void {
    while (!store.getState().isPaused && controllers.size < MAX_CONCURRENT_UPLOADS) {
      const item = getNextItem(getItems());
      if (!item) return;
      void start(item);
    }
  }
  async function start(item: T): Promise<void> {
    const { key } = item;
    const controller = new AbortController();
    controllers.set(key, controller);
    const isCurrent = () => controllers.get(key) === controller;
    update(key, initialFields);
    const outcome = await uploadFile(item, {
      signal: controller.signal,
      report: (fields) => isCurrent() && update(key, fields),
      reportPersistent: (fields) => (isCurrent() || !controllers.has(key)) && update(key, fields),
    });
    if (!isCurrent()) return;
    controllers.delete(key);
    const previousItem = find(key);
    update(key, outcome);
    const endedItem = find(key);
    if (previousItem && endedItem) onEnded?.(endedItem, previousItem, item);
    startPending();
  }
  function stop(key: number): void {
    controllers.get(key)?.abort();
    controllers.delete(key);
  }

  return {
    get: store.getState,
    subscribe: store.subscribe,
    find,
    findKeys: (matches: (item: T) => boolean) => new Set(getItems().flatMap((item) => (matches(item) ? [item.key] : []))),
    updateItem: update,
    startPending,
    stop,
    setPaused: (isPaused: boolean) => store.setState({ isPaused }),
    add(itemFactories: readonly ((key: number) => T)[]): void {
      store.setState({ items: [...getItems(), ...itemFactories.map((createItem) => createItem(++lastKey))] });
      startPending();
    },
    /** Aborts running uploads. */
    remove(keys: ReadonlySet<number>): void {
      keys.forEach(stop);
      store.setState({ items: getItems().filter(({ key }) => !keys.has(key)) });
      startPending();
    },
  };
}
