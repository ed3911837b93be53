import type { Backoff } from '../core/backoff.js';
import type { JobSettings } from '../core/definition.js';

/**
 * What is stored of a job from its schedule to its end:
 *
 *     <priority>:<worker>:<name>      the lane, which the scripts read
 *     <created, epoch ms> <flags>     by Redis' clock; flag `c`: the caller chose the id
 *     <settings>                      JSON of what the call itself said, or nothing
 *     <payload>                       as serialised; it may hold anything, line breaks too
 */
export interface Envelope {
  lane: string;
  name: string;
  priority: number;
  createdAtMs: number;
  idWasChosen: boolean;
  settings: EnvelopeSettings;
  payload: string;
}

export type EnvelopeSettings = Pick<JobSettings, 'maxAttempts' | 'headers'> & { backoff?: Backoff };

const NO_SETTINGS: EnvelopeSettings = Object.freeze({});

export function laneName(priority: number, name: string): string {
  return `${priority}::${name}`;
}

/** All but the lane and the time, which the script puts before it. */
export function encodeEnvelopeRest(settings: EnvelopeSettings, payload: string, idWasChosen: boolean): string {
  const { maxAttempts, backoff, headers } = settings;
  const said = maxAttempts !== undefined || backoff !== undefined || headers !== undefined;
  return `${idWasChosen ? 'c' : ''}\n${said ? JSON.stringify({ maxAttempts, backoff, headers }) : ''}\n${payload}`;
}

/** Reads an envelope. Throws where it is not one. */
export function decodeEnvelope(text: string): Envelope {
  const laneEnd = text.indexOf('\n');
  const createdEnd = text.indexOf('\n', laneEnd + 1);
  const settingsEnd = text.indexOf('\n', createdEnd + 1);
  if (laneEnd < 0 || createdEnd < 0 || settingsEnd < 0) throw new Error('the envelope has fewer than four parts');
  const lane = text.slice(0, laneEnd);
  const created = text.slice(laneEnd + 1, createdEnd);
  const space = created.indexOf(' ');
  const priorityEnd = lane.indexOf(':');
  const settings = text.slice(createdEnd + 1, settingsEnd);
  return {
    lane,
    name: lane.slice(lane.indexOf(':', priorityEnd + 1) + 1),
    priority: Number(lane.slice(0, priorityEnd)),
    createdAtMs: Number(created.slice(0, space)),
    idWasChosen: created.includes('c', space),
    settings: settings === '' ? NO_SETTINGS : (JSON.parse(settings) as EnvelopeSettings),
    payload: text.slice(settingsEnd + 1),
  };
}
