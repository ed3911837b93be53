// thumbnails.thread.ts
import { move } from 'piscina';

export interface Shrinking {
  /** A grey value in each byte, row after row. */
  pixels: ArrayBuffer;
  width: number;
  step: number;
}

/** Keeps one pixel of `step`, in both directions. */
export default function shrink({
  pixels,
  width,
  step,
}: Shrinking): ArrayBuffer {
  const from = new Uint8Array(pixels);
  const to = new Uint8Array(from.length);
  let size = 0;
  for (let row = 0; row < from.length; row += width * step)
    for (let x = 0; x < width; x += step) to[size++] = from[row + x] ?? 0;
  return move(to.slice(0, size).buffer) as ArrayBuffer;
}
