import type { Envelope } from '../../store/envelope.js';

/** What of a run its envelope and its handler say together. */
export interface RunLimits {
  maxAttempts: number;
  /** 0 for none. */
  timeoutMs: number;
}

/** What the call to `schedule` said wins over the settings of the handler. */
export function limitsOf({ settings }: Envelope, ofHandler: RunLimits): RunLimits {
  if (settings.maxAttempts === undefined && settings.timeoutMs === undefined) return ofHandler;
  const { maxAttempts, timeoutMs } = ofHandler;
  return { maxAttempts: settings.maxAttempts ?? maxAttempts, timeoutMs: settings.timeoutMs ?? timeoutMs };
}
