import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { isComposing, isTyping } from "@/components/ui/hooks/page-keys";
import { type Command, commandOf, isForCanvas } from "../input/keys";
import { type Painter } from "./painter";

type Parts = {
  root: RefObject<HTMLElement | null>;
  frame: RefObject<HTMLElement | null>;
  painter: Painter;
  /** False if it did nothing, so that others may handle the key. */
  onCommand: (command: Command) => boolean;
};

/** The editor's keys, except in text fields; drawing keys need the focus on the drawing. Returns whether Space is held to pan. */
export function useEditorKeys({ root, frame, painter, onCommand }: Parts): () => boolean {
  const isSpaceDown = useRef(false);
  const onDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isComposing(event) || !isHere(event.target, root.current)) return;
    const command = commandOf(event);
    if (!command || (isTyping(event.target) && command.do !== "save")) return;
    const isOnCanvas = event.target === frame.current;
    if (isForCanvas(command) && !isOnCanvas && event.target !== document.body) return;
    if (command.do === "press") {
      event.preventDefault();
      if (!event.repeat && !(isOnCanvas && painter.press())) isSpaceDown.current = true;
    } else if (onCommand(command)) event.preventDefault();
  });
  const onUp = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== " ") return;
    isSpaceDown.current = false;
    painter.lift();
  });
  useEffect(() => {
    const down = (event: KeyboardEvent) => onDown(event);
    const up = (event: KeyboardEvent) => onUp(event);
    const away = () => {
      isSpaceDown.current = false;
    };
    // Runs before the page's own keys: `?` and the arrows mean something else here.
    window.addEventListener("keydown", down, { capture: true });
    window.addEventListener("keyup", up);
    window.addEventListener("blur", away);
    return () => {
      window.removeEventListener("keydown", down, { capture: true });
      window.removeEventListener("keyup", up);
      window.removeEventListener("blur", away);
    };
  }, []);
  return () => isSpaceDown.current;
}

/** False under another dialog, or while a dialog lies over the editor. */
function isHere(target: EventTarget | null, root: HTMLElement | null): boolean {
  const top = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (top && !top.contains(root)) return false;
  return target === document.body || (target instanceof Node && root !== null && root.contains(target));
}
