import { useEffect, useEffectEvent, useState } from "react";

export const slideSeconds = [2, 4, 8, 15] as const;
type SlideSeconds = (typeof slideSeconds)[number];

type SlideshowOptions = {
  /** The shown item has loaded: a slide's time begins then. */
  isReady: boolean;
  at: number;
  count: number;
  onMove: (at: number) => void;
};

/** Advances automatically, and after the last slide to the first; each slide stays for its whole time after it has loaded. */
export function useSlideshow({ isReady, at, count, onMove }: SlideshowOptions) {
  const [isPlaying, setPlaying] = useState(false);
  const [seconds, setSeconds] = useState<SlideSeconds>(4);
  const move = useEffectEvent(onMove);
  useEffect(() => {
    if (!isPlaying || !isReady || count < 2) return;
    const timer = setTimeout(() => move((at + 1) % count), seconds * 1000);
    return () => clearTimeout(timer);
  }, [isPlaying, isReady, at, count, seconds]);
  return { isPlaying, seconds, setSeconds, toggle: () => setPlaying((before) => !before), stop: () => setPlaying(false) };
}
