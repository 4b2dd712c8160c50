// How long a body may take: a JSON body as a whole, an upload from one chunk to the next.
// Guarantees: a body that pauses too long is REQUEST_TIMEOUT; a slow upload that moves is never cut; no timer outlives its body.
// Must never: cancel the body itself; the connection has to carry the refusal first.

import { ServiceError } from "../service-error";

export async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const clock = startClock(timeoutMs);
  try {
    return await clock.within(work);
  } finally {
    clock.stop();
  }
}

export async function* whileMoving(body: AsyncIterable<Uint8Array>, timeoutMs: number): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const clock = startClock(timeoutMs);
  try {
    for (;;) {
      const step = await clock.within(chunks.next());
      if (step.done) return;
      yield step.value;
    }
  } finally {
    clock.stop();
  }
}

function startClock(timeoutMs: number) {
  // Only the step that is awaited now may time out: the code that takes the chunks may be slower than their sender.
  let expire: (() => void) | undefined;
  const timer = setTimeout(() => expire?.(), timeoutMs);
  return {
    within<T>(work: Promise<T>): Promise<T> {
      timer.refresh();
      return new Promise<T>((resolve, reject) => {
        expire = () => reject(timedOut(timeoutMs));
        work.then(resolve, reject);
      }).finally(() => (expire = undefined));
    },
    stop: () => clearTimeout(timer),
  };
}

function timedOut(timeoutMs: number): ServiceError {
  const seconds = timeoutMs / 1000;
  return new ServiceError("REQUEST_TIMEOUT", `The body did not arrive: nothing came, or it was not complete, for ${seconds} s.`);
}
