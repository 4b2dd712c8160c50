import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { isTyping } from "@/components/ui/hooks/page-keys";
import { type Command, commandOf, isForCanvas } from "../input/keys";
import { type Painter } from "./painter";

type Parts = {
  root: RefObject<HTMLElement | null>;
  frame: RefObject<HTMLElement | null>;
  painter: Painter;
  /** False where it did nothing, so that the key is left to others. */
  onCommand: (command: Command) => boolean;
};

/** The editor's keys, wherever the focus is but in a field; those that draw only with the focus on the drawing. Answers whether Space is held to pan. */
export function useEditorKeys({ root, frame, painter, onCommand }: Parts): () => boolean {
  const isSpaceDown = useRef(false);
  const onDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || !isHere(event.target, root.current)) return;
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
    // Before the page's own keys: `?` and the arrows mean something else here.
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

/** Not under another dialog, and not over one that lies on the editor. */
function isHere(target: EventTarget | null, root: HTMLElement | null): boolean {
  const top = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (top && !top.contains(root)) return false;
  return target === document.body || (target instanceof Node && root !== null && root.contains(target));
}
