import { useEffect, useEffectEvent, useState } from "react";

export const slideSeconds = [2, 4, 8, 15] as const;
export type SlideSeconds = (typeof slideSeconds)[number];

type SlideshowOptions = {
  /** What is shown is there: the time of a slide begins then. */
  isReady: boolean;
  at: number;
  count: number;
  onMove: (at: number) => void;
};

/** Goes on by itself, and after the last one from the first; a slide stays for its whole time after it has come. */
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
