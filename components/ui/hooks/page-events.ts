import { useEffect, useEffectEvent, useRef } from "react";

/** Whether an input method (IME) handles the key, such as Enter, Esc or an arrow. Safari reports the last key only by its key code. */
export function isComposing({ isComposing: isImeActive, keyCode }: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean {
  return isImeActive || keyCode === 229;
}

/**
 * Listens to every key on the page, regardless of focus, except keys of an input method. `isFirst`: runs before the other listeners.
 */
export function usePageKey(onKey: (event: KeyboardEvent) => void, { isFirst = false } = {}): void {
  const handle = useEffectEvent(onKey);
  useEffect(() => {
    const listener = (event: KeyboardEvent) => (isComposing(event) ? undefined : handle(event));
    window.addEventListener("keydown", listener, isFirst);
    return () => window.removeEventListener("keydown", listener, isFirst);
  }, [isFirst]);
}

/** Calls `onRun` on Ctrl+Enter or Cmd+Enter, except while a dialog is open. */
export function useRunKey(onRun: () => void): void {
  usePageKey((event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    onRun();
  });
}

/** Each Esc calls one handler: selection handlers before panel handlers, and the newest first within a layer. */
const escapeLayers = { selection: new Set<() => boolean | void>(), panel: new Set<() => boolean | void>() };
const layersInOrder = [escapeLayers.selection, escapeLayers.panel];

/** `onEscape` returns false if there was nothing to close. */
export function useEscape(layer: keyof typeof escapeLayers, onEscape: () => boolean | void): void {
  const handle = useEffectEvent(onEscape);
  useEffect(() => {
    const handler = () => handle();
    window.addEventListener("keydown", closeTopLayer);
    escapeLayers[layer].add(handler);
    return () => {
      escapeLayers[layer].delete(handler);
      if (layersInOrder.every(({ size }) => size === 0)) window.removeEventListener("keydown", closeTopLayer);
    };
  }, [layer]);
}

function closeTopLayer(event: KeyboardEvent): void {
  if (isEscape(event) && layersInOrder.some((layer) => [...layer].reverse().some((handler) => handler() !== false))) event.preventDefault();
}

/** Whether this is an unhandled Esc. An open dialog closes first. */
function isEscape(event: KeyboardEvent): boolean {
  return event.key === "Escape" && !event.defaultPrevented && !isComposing(event) && !document.querySelector("dialog[open]");
}

/** Whether key presses on this element enter text, so that shortcuts must not run. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Whether the key may be a shortcut. False while typing, while a dialog is open, and for keys with a modifier, which the browser handles. */
export function isShortcutKey({ metaKey, ctrlKey, altKey, target }: KeyboardEvent): boolean {
  return !metaKey && !ctrlKey && !altKey && !isTyping(target) && !document.querySelector("dialog[open]");
}

const MAX_SEQUENCE_MS = 1500;

/** Calls `onSecond` with a key that is pressed within 1.5 s after `firstKey`. If it returns true, no other listener receives that key. */
export function useKeySequence(firstKey: string, onSecond: (key: string) => boolean): void {
  const startedAt = useRef(-Infinity);
  usePageKey(
    (event) => {
      if (event.repeat || !isShortcutKey(event) || event.shiftKey) return;
      const isSecond = event.timeStamp - startedAt.current < MAX_SEQUENCE_MS;
      startedAt.current = !isSecond && event.key === firstKey ? event.timeStamp : -Infinity;
      if (!isSecond || !onSecond(event.key)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { isFirst: true },
  );
}

let isLeavingAllowed = false;

/** Disables the warning after the user has confirmed leaving the page. */
export function setLeavingAllowed(isAllowed: boolean): void {
  isLeavingAllowed = isAllowed;
}

/** For custom beforeunload listeners: makes the browser warn, unless the user has confirmed leaving. */
export function warnBeforeLeaving(event: BeforeUnloadEvent): void {
  if (!isLeavingAllowed) event.preventDefault();
}

/** Runs all beforeunload listeners to detect unsaved work. */
export function hasUnsavedWork(): boolean {
  return !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
}

/** Makes the browser warn before the tab is closed or reloaded. */
export function useCloseWarning(isEnabled: boolean): void {
  useEffect(() => {
    if (!isEnabled) return;
    // One listener per caller, since a shared one would be removed for all callers at once.
    const warn = (event: BeforeUnloadEvent) => warnBeforeLeaving(event);
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isEnabled]);
}

const interactions = ["pointermove", "pointerdown", "keydown", "touchstart"] as const;

/** Calls `callback` once, on the user's first interaction, to preload code for the first click. `callback` must be stable. */
export function useOnFirstInteraction(callback: () => void): void {
  useEffect(() => {
    const controller = new AbortController();
    const run = () => {
      controller.abort();
      callback();
    };
    for (const interaction of interactions) window.addEventListener(interaction, run, { passive: true, signal: controller.signal });
    return () => controller.abort();
  }, [callback]);
}

/** Returns the items between `from` and `to`, inclusive, in either direction. Returns only `to` if `from` is not in the list. */
export function getRange<T>(items: readonly T[], from: T | undefined, to: T): readonly T[] {
  const fromIndex = from === undefined ? -1 : items.indexOf(from);
  const toIndex = items.indexOf(to);
  return fromIndex < 0 || toIndex < 0 ? [to] : items.slice(Math.min(fromIndex, toIndex), Math.max(fromIndex, toIndex) + 1);
}

/** Returns a function that finds the items selected by a click. With `isRange`, it is the range since the last clicked item. */
export function useClickedRange<T>(items: readonly T[]): (clickedItem: T, isRange: boolean) => readonly T[] {
  const lastClickedItem = useRef<T>(undefined);
  return (clickedItem, isRange) => {
    const range = isRange ? getRange(items, lastClickedItem.current, clickedItem) : [clickedItem];
    lastClickedItem.current = clickedItem;
    return range;
  };
}
