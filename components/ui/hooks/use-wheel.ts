import { type RefObject, useEffect, useEffectEvent } from "react";

/** `act` may keep the page from scrolling: React's own wheel listeners are passive, and a passive listener cannot. */
export function useWheel(frame: RefObject<HTMLElement | null>, act: (event: WheelEvent) => void): void {
  const onWheel = useEffectEvent(act);
  useEffect(() => {
    const element = frame.current;
    const listen = (event: WheelEvent) => onWheel(event);
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, [frame]);
}
