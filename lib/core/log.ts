/** Where lines for people go. Never throws. */
export interface Log {
  log(message: string): void;
  warn(message: string): void;
  /** `stack`: of the error that the message is about; its lines stay lines. */
  error(message: string, stack?: string): void;
}
