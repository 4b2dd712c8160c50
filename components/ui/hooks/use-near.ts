import { type RefObject, useEffect, useState } from "react";

/** True once the element comes near the visible part, and from then on. */
export function useNear(element: RefObject<HTMLElement | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!element.current || isNear) return;
    const observer = new IntersectionObserver((entries) => setNear((was) => was || entries.some((entry) => entry.isIntersecting)), {
      rootMargin: "200px",
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isNear]);
  return isNear;
}
