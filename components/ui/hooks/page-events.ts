import { useEffect, useEffectEvent, useRef } from "react";

/** Whether the key belongs to an input method (IME), which uses Enter, Esc and arrows. Safari marks the last key only by its key code. */
export function isComposing({ isComposing: isOpen, keyCode }: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean {
  return isOpen || keyCode === 229;
}

/**
 * Listens to every key on the page, regardless of focus, except keys of an input method. `isFirst`: runs before the other listeners.
 */
export function usePageKey(onKey: (event: KeyboardEvent) => void, { isOn = true, isFirst = false } = {}): void {
  const handle = useEffectEvent(onKey);
  useEffect(() => {
    if (!isOn) return;
    const listener = (event: KeyboardEvent) => (isComposing(event) ? undefined : handle(event));
    window.addEventListener("keydown", listener, isFirst);
    return () => window.removeEventListener("keydown", listener, isFirst);
  }, [isOn, isFirst]);
}

export function useRunKey(onRun: () => void): void {
  usePageKey((event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
    event.preventDefault();
    onRun();
  });
}

/** Each Esc closes one layer: the selection before the panel, and the newest first within a layer. */
const escapeLayers = { selection: new Set<() => boolean | void>(), panel: new Set<() => boolean | void>() };
const layersInOrder = [escapeLayers.selection, escapeLayers.panel];

/** `onEscape` returns false if there was nothing to close. */
export function useEscape(layer: keyof typeof escapeLayers, onEscape: () => boolean | void): void {
  const handle = useEffectEvent(onEscape);
  useEffect(() => {
    const handler = () => handle();
    window.addEventListener("keydown", closeNext);
    escapeLayers[layer].add(handler);
    return () => {
      escapeLayers[layer].delete(handler);
      if (layersInOrder.every(({ size }) => size === 0)) window.removeEventListener("keydown", closeNext);
    };
  }, [layer]);
}

function closeNext(event: KeyboardEvent): void {
  if (isEscape(event) && layersInOrder.some((layer) => [...layer].reverse().some((handler) => handler() !== false))) event.preventDefault();
}

/** Whether this is an unhandled Esc; an open dialog closes first. */
function isEscape({ key, defaultPrevented }: KeyboardEvent): boolean {
  return key === "Escape" && !defaultPrevented && !document.querySelector("dialog[open]");
}

/** Whether keys pressed here are text, not shortcuts. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

/** False for keys with a modifier, which belong to the browser, and while a dialog is open. */
export function isFreeKey({ metaKey, ctrlKey, altKey, target }: KeyboardEvent): boolean {
  return !metaKey && !ctrlKey && !altKey && !isTyping(target) && !document.querySelector("dialog[open]");
}

const SEQUENCE_MS = 1500;

/** Calls `onSecond` with the key pressed within 1.5 s after `first`. If it returns true, no other listener receives that key. */
export function useKeySequence(first: string, onSecond: (key: string) => boolean): void {
  const startedAt = useRef(-Infinity);
  usePageKey(
    (event) => {
      if (event.repeat || !isFreeKey(event) || event.shiftKey) return;
      const isSecond = event.timeStamp - startedAt.current < SEQUENCE_MS;
      startedAt.current = !isSecond && event.key === first ? event.timeStamp : -Infinity;
      if (!isSecond || !onSecond(event.key)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { isFirst: true },
  );
}

let isLeavingAllowed = false;

/** Disables the warning once the user has confirmed leaving. */
export function allowLeaving(isLeaving: boolean): void {
  isLeavingAllowed = isLeaving;
}

/** For custom beforeunload listeners: makes the browser warn, unless the user has confirmed leaving. */
export function warnBeforeLeaving(event: BeforeUnloadEvent): void {
  if (!isLeavingAllowed) event.preventDefault();
}

/** The browser warns before the tab is closed or reloaded. */
export function useCloseWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    // One listener per caller, since a shared one would be removed for all callers at once.
    const warn = (event: BeforeUnloadEvent) => warnBeforeLeaving(event);
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isOn]);
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

/** The items from `from` to `to`, both inclusive, in either direction. Only `to` if `from` is not in the list. */
export function getRange<T>(items: readonly T[], from: T | undefined, to: T): readonly T[] {
  const a = from === undefined ? -1 : items.indexOf(from);
  const b = items.indexOf(to);
  return a < 0 || b < 0 ? [to] : items.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** Returns the items that a click selects: with Shift, the range since the last clicked one. */
export function useRange<T>(items: readonly T[]): (pressed: T, isRange: boolean) => readonly T[] {
  const last = useRef<T>(undefined);
  return (pressed, isRange) => {
    const range = isRange ? getRange(items, last.current, pressed) : [pressed];
    last.current = pressed;
    return range;
  };
}
