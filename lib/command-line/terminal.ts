/** Where a command reads and writes: the process's own streams, or those of a test. */
export interface Terminal {
  /** Whether somebody sits there who can be asked. */
  readonly canAsk: boolean;
  /** Whether what goes to `out` may have colours. */
  readonly hasColours: boolean;
  /** Writes answers. Whole lines. */
  out(text: string): void;
  /** Writes all else. Whole lines. */
  err(text: string): void;
  /** Asks a question that is answered by yes or no. */
  ask(question: string): Promise<boolean>;
  /** Resolves when somebody interrupts the command, which else ends the process. */
  interrupted(): Promise<void>;
}
