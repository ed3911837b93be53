import { type History, monotonicMs } from '../history.js';

const LOOK_EVERY_MS = 50;
/** A sixth of a lease is what renewals leave for trouble on the way. */
export const STALL_MS = 250;

/** Notes what no process may do, and when its event loop stood still. Ends the process when the harness is gone. */
export function reportOn(history: History): void {
  process.on('warning', (warning) => history.note({ type: 'trouble', message: `warning ${warning.stack}` }));
  process.on('uncaughtExceptionMonitor', (error, origin) =>
    history.note({ type: 'trouble', message: `${origin} ${error.stack ?? error}` }),
  );
  process.on('disconnect', () => process.exit());
  watchStalls(history);
}

export function watchStalls(history: History): NodeJS.Timeout {
  let last = monotonicMs();
  const timer = setInterval(() => {
    const now = monotonicMs();
    if (now - last > STALL_MS) history.note({ type: 'stall', from: last });
    last = now;
  }, LOOK_EVERY_MS);
  return timer.unref();
}
