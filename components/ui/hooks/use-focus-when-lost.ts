import { useEffect, useRef } from "react";

/** Focuses the answer to an act if the clicked button has disappeared; otherwise the next key would start at the top of the page. */
export function useFocusWhenLost<Element extends HTMLElement>(isAnswer = true) {
  const element = useRef<Element>(null);
  useEffect(() => {
    if (isAnswer && document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [isAnswer]);
  return element;
}
