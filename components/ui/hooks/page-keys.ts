import { useEffect, useEffectEvent } from "react";

/** Hears every key that is pressed on the page, whatever has the focus. `isFirst`: before all that do not ask for it. */
export function usePageKey(onKey: (event: KeyboardEvent) => void, { isOn = true, isFirst = false } = {}): void {
  const heard = useEffectEvent(onKey);
  useEffect(() => {
    if (!isOn) return;
    const listener = (event: KeyboardEvent) => heard(event);
    window.addEventListener("keydown", listener, isFirst);
    return () => window.removeEventListener("keydown", listener, isFirst);
  }, [isOn, isFirst]);
}

/** Esc that nothing else has answered; a dialog closes by it first. */
export function isEscape({ key, defaultPrevented }: KeyboardEvent): boolean {
  return key === "Escape" && !defaultPrevented && !document.querySelector("dialog[open]");
}

/** Whether a key pressed here is part of a text, so that it is no shortcut. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

/** A key with a modifier is the browser's, a dialog keeps the keys to itself. */
export function isFreeKey({ metaKey, ctrlKey, altKey, target }: KeyboardEvent): boolean {
  return !metaKey && !ctrlKey && !altKey && !isTyping(target) && !document.querySelector("dialog[open]");
}
