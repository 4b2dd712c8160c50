import { useEffect, useState } from "react";

/** True once `isOn` has lasted for `afterMs`, until it ends: something that ends quickly shows nothing. */
export function useLate(isOn: boolean, afterMs: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isOn) return;
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isOn, afterMs]);
  return isOn && isLate;
}
