// A timer of any length: `setTimeout` ends at 24 days.
const MAX_MS = 2 ** 31 - 1;

export interface Timer {
  clear(): void;
}

export function after(ms: number, fire: () => void): Timer {
  const end = Date.now() + ms;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const left = end - Date.now();
    timer = left > MAX_MS ? setTimeout(arm, MAX_MS) : setTimeout(fire, Math.max(0, left));
    // The simulated server keeps no program alive.
    timer.unref();
  };
  arm();
  return { clear: () => clearTimeout(timer) };
}
