import { useEffect, useEffectEvent } from "react";

/** Listens for every key on the page, whatever has the focus. `isFirst`: runs before all listeners without it. */
export function usePageKey(onKey: (event: KeyboardEvent) => void, { isOn = true, isFirst = false } = {}): void {
  const handle = useEffectEvent(onKey);
  useEffect(() => {
    if (!isOn) return;
    const listener = (event: KeyboardEvent) => handle(event);
    window.addEventListener("keydown", listener, isFirst);
    return () => window.removeEventListener("keydown", listener, isFirst);
  }, [isOn, isFirst]);
}

/** Esc that nothing else has handled; an open dialog closes first. */
export function isEscape({ key, defaultPrevented }: KeyboardEvent): boolean {
  return key === "Escape" && !defaultPrevented && !document.querySelector("dialog[open]");
}

/** Whether a key pressed here is part of a text, and not a shortcut. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

/** A key with a modifier belongs to the browser, and an open dialog keeps the keys to itself. */
export function isFreeKey({ metaKey, ctrlKey, altKey, target }: KeyboardEvent): boolean {
  return !metaKey && !ctrlKey && !altKey && !isTyping(target) && !document.querySelector("dialog[open]");
}
