import { useEffect, useRef } from "react";

/** For what answers an act: where the button that was pressed is gone, the next key would begin at the top of the page. */
export function useFocusWhenLost<Element extends HTMLElement>(isAnswer = true) {
  const element = useRef<Element>(null);
  useEffect(() => {
    if (isAnswer && document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [isAnswer]);
  return element;
}
