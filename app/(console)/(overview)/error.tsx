"use client";

import { BrokenPage } from "@/components/frame/broken-page";

export default function PageError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return <BrokenPage digest={error.digest} onRetry={reset} />;
}
