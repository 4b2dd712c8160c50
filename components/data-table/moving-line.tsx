"use client";

import { Button } from "@/components/ui/button";
import { ProgressBar } from "@/components/ui/progress-bar";
import { WorkLine } from "./work-line";

type MovingLineProps = {
  text: string;
  /** How much is done, from 0 to 1; absent where nobody knows yet. */
  share?: number;
  /** The service asked to wait. */
  waitMs?: number;
  isStopping: boolean;
  onStop: () => void;
  words: { progress: string; stop: string; stopping: string; waiting: (seconds: number) => string };
};

/** Work on many things, while it goes on. */
export function MovingLine({ text, share, waitMs, isStopping, onStop, words }: MovingLineProps) {
  const wait = waitMs === undefined ? "" : ` · ${words.waiting(Math.ceil(waitMs / 1000))}`;
  return (
    <WorkLine tone="run" text={text + wait}>
      {share === undefined ? null : <ProgressBar value={share} label={words.progress} />}
      <Button size="small" busy={isStopping} onClick={onStop}>
        {isStopping ? words.stopping : words.stop}
      </Button>
    </WorkLine>
  );
}
