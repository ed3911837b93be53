import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PIECE_BYTES = 8 * 1024;

/** One direction of a link that carries so many bytes a second for all connections together, each piece in its turn. */
export class Link {
  private freeAt = 0;

  constructor(private readonly bytesPerSecond: number) {}

  /** Carries data from one socket to the other, which hears nothing more meanwhile: so little lies about on the way. */
  async carry(from: Socket, to: Socket, data: Buffer): Promise<void> {
    from.pause();
    for (let at = 0; at < data.length; at += PIECE_BYTES) {
      const piece = data.subarray(at, at + PIECE_BYTES);
      this.freeAt = Math.max(this.freeAt, performance.now()) + (piece.length / this.bytesPerSecond) * 1_000;
      await sleep(this.freeAt - performance.now());
      if (to.destroyed) return;
      to.write(piece);
    }
    from.resume();
  }
}
