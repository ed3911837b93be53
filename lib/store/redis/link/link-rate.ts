import { UNCONFIRMED_BYTES } from '../../../core/constants.js';

/** How much may be under way while nothing is known of the link. */
const FIRST_BYTES = 1024 * 1024;
/** How long smaller messages take tells more about the distance and about Redis than about the link's rate. */
export const TELLING_BYTES = 64 * 1024;

/** How fast a link carries data in one direction, by the large messages that it has carried lately. */
export class LinkRate {
  private bytes = 0;
  private ms = 0;

  /** Notes that `bytes` took `ms`. Each message counts half as much as the one after it. */
  note(bytes: number, ms: number): void {
    if (bytes < TELLING_BYTES) return;
    this.bytes = this.bytes / 2 + bytes;
    this.ms = this.ms / 2 + ms;
  }

  /** How many bytes should arrive within `ms`, `most` at the most. */
  bytesIn(ms: number, most: number): number {
    if (this.bytes === 0) return Math.min(FIRST_BYTES, most);
    const carried = this.ms === 0 ? most : Math.floor((this.bytes * ms) / this.ms);
    // With less, a claim of many small jobs would need several calls, however slow the link is.
    return Math.min(Math.max(carried, UNCONFIRMED_BYTES), most);
  }

  /** How long `bytes` should take; 0 while nothing is known. */
  msFor(bytes: number): number {
    return this.bytes === 0 ? 0 : (bytes * this.ms) / this.bytes;
  }
}
