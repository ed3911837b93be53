import type { Job, Payload } from '../contestants/contestant.js';

/** What everybody's payload is long, as JSON. */
const PAYLOAD_BYTES = 100;

/** 100 bytes of JSON that carry these fields. Throws where they alone are longer. */
export function payloadOf(fields: Payload = {}): Payload {
  const length = JSON.stringify({ ...fields, text: '' }).length;
  if (length > PAYLOAD_BYTES) throw new Error(`A payload of ${length} bytes is longer than ${PAYLOAD_BYTES}.`);
  return { ...fields, text: 'x'.repeat(PAYLOAD_BYTES - length) };
}

/** One that fits the class of contestants/ours.ts. */
export const validatedPayload = () => payloadOf({ userId: 7, email: 'reader@example.com' });

export const IN_AN_HOUR = () => Date.now() + 3_600_000;

/** The same job again and again, or a new one each time. */
export type Jobs = Job | (() => Job);

export function jobs(count: number, job: Jobs): Job[] {
  return Array.from({ length: count }, makerOf(job));
}

export const makerOf = (job: Jobs) => (typeof job === 'function' ? job : () => job);
