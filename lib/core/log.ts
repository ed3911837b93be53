/** Where lines for people go. Never throws. */
export interface Log {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
