import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.js';

/** The streams of this process. */
export class ProcessTerminal implements Terminal {
  readonly canAsk: boolean;
  readonly hasColours: boolean;

  constructor(private readonly process: NodeJS.Process) {
    const { stdin, stdout, stderr, env } = process;
    this.canAsk = stdin.isTTY === true && stderr.isTTY === true;
    // NO_COLOR counts where it is there and not empty: https://no-color.org
    this.hasColours = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
    // Whoever reads the answer has had enough of it, as `head` has: there is nobody to tell.
    for (const stream of [stdout, stderr]) {
      stream.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE') throw error;
        process.exit();
      });
    }
  }

  out(text: string): void {
    this.process.stdout.write(`${text}\n`);
  }

  err(text: string): void {
    this.process.stderr.write(`${text}\n`);
  }

  /** Anything but `y` and `yes` is no, and so is the end of the input. */
  ask(question: string): Promise<boolean> {
    const { stdin: input, stderr: output } = this.process;
    const lines = createInterface({ input, output });
    return new Promise((resolve) => {
      lines.once('close', () => resolve(false));
      lines.question(`${question} [y/N] `, (answer) => {
        resolve(/^y(es)?$/i.test(answer.trim()));
        lines.close();
      });
    });
  }

  interrupted(): Promise<void> {
    return new Promise((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) this.process.once(signal, () => resolve());
    });
  }

  /** The process ends once all is written, by itself: `process.exit` would cut a pipe off. */
  end(code: number): void {
    this.process.exitCode = code;
  }
}
