"use client";

import { BrokenPage } from "@/components/frame/failure/broken-page";

export default function PageError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return <BrokenPage digest={error.digest} onRetry={reset} />;
}
