/**
 * So much may always be under way at once, however slow the link is: with less, thousands of small jobs would go in more calls than
 * one. `UNCONFIRMED_BYTES` in lua/parts/claim.lua is the same.
 */
export const LEAST_BYTES = 256 * 1024;
/** And so much while nothing is known of the link. */
const FIRST_BYTES = 1024 * 1024;
/** The time that less takes says more of the way and of Redis than of the link. */
export const TELLING_BYTES = 64 * 1024;

/** How fast a link carries data in one direction, by the large messages that it has carried lately. */
export class LinkRate {
  private bytes = 0;
  private ms = 0;

  /** Takes in that so many bytes took so long. Each counts half as much as the one after it. */
  note(bytes: number, ms: number): void {
    if (bytes < TELLING_BYTES) return;
    this.bytes = this.bytes / 2 + bytes;
    this.ms = this.ms / 2 + ms;
  }

  /** How much may be sent so that it arrives within that time, `most` at the most. */
  bytesIn(ms: number, most: number): number {
    if (this.bytes === 0) return Math.min(FIRST_BYTES, most);
    const carried = this.ms === 0 ? most : Math.floor((this.bytes * ms) / this.ms);
    return Math.min(Math.max(carried, LEAST_BYTES), most);
  }

  /** How long so many bytes should take; 0 while nothing is known. */
  msFor(bytes: number): number {
    return this.bytes === 0 ? 0 : (bytes * this.ms) / this.bytes;
  }
}
