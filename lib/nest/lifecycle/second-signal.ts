import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** The name that Nest gives to the listener of `enableShutdownHooks`. */
const LISTENER_OF_NEST = 'cleanup';
/** One Ctrl-C may arrive twice: the terminal sends it to all processes of its group, and npm passes it on once more. */
const SAME_PRESS_MS = 500;

/**
 * Calls `onSignal` with each SIGINT or SIGTERM that comes after the one that began the shutdown, until the answered function is
 * called. Nest ignores those. Only signals for which the application has called `enableShutdownHooks` are heard: the others end the
 * process by themselves, or are the application's own matter.
 */
export function hearSecondSignal(onSignal: (signal: NodeJS.Signals) => void): () => void {
  let last = performance.now();
  const hear = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (now - last <= SAME_PRESS_MS) return;
    last = now;
    onSignal(signal);
  };
  const heard = SIGNALS.filter((signal) => process.listeners(signal).some(({ name }) => name === LISTENER_OF_NEST));
  for (const signal of heard) process.on(signal, hear);
  return () => {
    for (const signal of heard) process.off(signal, hear);
  };
}

/** As shells tell it of a process that a signal has ended. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
