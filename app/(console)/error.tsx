"use client";

import { BrokenPage } from "@/components/frame/failure/failure-message";

export default function PageError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return <BrokenPage digest={error.digest} onRetry={reset} />;
}
