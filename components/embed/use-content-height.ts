import { useEffect } from "react";
import { tellHost } from "@/lib/browser/embed/host-page";

/** What is as high as the window would make the page higher each time that the host makes the window as high as the page. */
const STEADY = "8px";

/** Where the host wants it, it hears how high the page is, whenever that changes. */
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
