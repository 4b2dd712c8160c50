import { useEffect } from "react";
import { tellHost } from "@/lib/browser/embed/host-page";

/** An element as high as the window would grow the page each time the host grows the window to the page's height. */
const STEADY = "8px";

/** Reports the page's height to the host at each change, if the host asked for it. */
export function useContentHeight(isOn: boolean, origins: readonly string[]): void {
  useEffect(() => {
    const content = document.getElementById("content");
    if (!isOn || !content) return;
    document.documentElement.style.setProperty("--dvh", STEADY);
    let told = 0;
    const tell = () => {
      const height = Math.ceil(content.getBoundingClientRect().height);
      if (height !== told) tellHost(origins, { type: "height", height });
      told = height;
    };
    const watching = new ResizeObserver(tell);
    watching.observe(content);
    tell();
    return () => {
      watching.disconnect();
      document.documentElement.style.removeProperty("--dvh");
    };
  }, [isOn, origins]);
}
